import { EXPLANATIONS } from '../pay-test/explanations.ts';
import {
  hasJudgedTrial,
  isNotPaid,
  type PayTestReport,
  TRIAL_STATUSES,
  TRIALS,
  type TrialResult,
} from '../pay-test/result.ts';
import type { FormatName } from '../usage.ts';
import { defuseCommands, toMarkdownCode, toPrintedJson } from './escapes.ts';
import { type Findings, isProblem, toFindingText } from './findings.ts';
import { formatCodeQuality, formatGithub, formatJunit, formatSarif } from './pipelines.ts';

const FORMATS: Readonly<
  Record<FormatName, (report: PayTestReport, pipelineFile: string | null) => string>
> = {
  text: (report) => defuseCommands(toText(report)),
  json: (report) => toPrintedJson(report),
  sarif: (report, file) => formatSarif(toFindings(report, file)),
  junit: (report, file) => formatJunit(toFindings(report, file)),
  markdown: toMarkdown,
  // GitHub shows only the first annotations of each step.
  github: (report, file) =>
    formatGithub(toFindings({ ...report, trials: sortWorstFirst(report) }, file)),
  codequality: (report, file) => formatCodeQuality(toFindings(report, file)),
};

/** Writes the report in any format that `scan` has. `pipelineFile` is that of `Findings`. */
export function formatPayTest(
  report: PayTestReport,
  format: FormatName,
  pipelineFile: string | null = null,
): string {
  return FORMATS[format](report, pipelineFile);
}

/** These trials pay the seller, and find ways to get more than was paid for. */
const PAYING_GIFT_TRIALS = ['T2', 'T3', 'T4', 'T5', 'T6', 'T7', 'T8', 'T9', 'T10', 'T17'];

/** "Takes money and delivers: yes. Gives away for nothing: 2 ways. Routes tested: 1 of 1." */
function toHeadline(report: PayTestReport): string {
  if (!hasJudgedTrial(report)) return 'Nothing was tested.';
  const { delivers, tested } = report.summary;
  const answer = tested === 0 ? 'not tested' : delivers ? 'yes' : 'no';
  return [
    `Takes money and delivers: ${answer}.`,
    `Gives away for nothing: ${countWays(report)}.`,
    `Routes tested: ${tested} of ${report.routes.length}.`,
  ].join(' ');
}

function countWays({ summary: { delivers, gifts }, trials }: PayTestReport): string {
  if (gifts > 0) return `${gifts} way${gifts === 1 ? '' : 's'}`;
  const judgedIds = trials.filter(({ status }) => status !== 'not_run').map(({ id }) => id);
  // These trials send no payment. If the paid route delivers nothing, their refusals prove nothing.
  const unpaidIds = delivers ? ['T11', 'T12'] : [];
  const isTested = judgedIds.some((id) => [...PAYING_GIFT_TRIALS, ...unpaidIds].includes(id));
  return isTested ? 'no way' : 'not tested';
}

/** The worst first. A route that could not be paid has one line instead of one for each trial. */
function listPrintedTrials(report: PayTestReport) {
  const unpaidRoutes = new Set<string | null>();
  return sortWorstFirst(report).flatMap((trial) => {
    const { id, title, route, evidence } = trial;
    const status = trial.status.replace('_', ' ');
    const fix = isProblem(trial) ? trial.fix : null;
    if (!isNotPaid(trial)) return [{ status, label: `${id} ${title}`, route, evidence, fix }];
    if (unpaidRoutes.has(route)) return [];
    unpaidRoutes.add(route);
    const isInEvidence = route !== null && evidence.includes(route);
    return [{ status, label: '', route: isInEvidence ? null : route, evidence, fix }];
  });
}

function sortWorstFirst({ trials }: PayTestReport): readonly TrialResult[] {
  const rank = ({ status }: TrialResult) => TRIAL_STATUSES.indexOf(status);
  return trials.toSorted((a, b) => rank(a) - rank(b));
}

function toText(report: PayTestReport): string {
  const { pass, warn, fail, not_run } = report.summary;
  return [
    toHeadline(report),
    `${report.target}: ${fail} failed, ${warn} warned, ${pass} passed, ${not_run} not run`,
    '',
    ...listPrintedTrials(report).map(({ status, label, route, evidence, fix }) => {
      const name = [label, route ?? ''].filter((part) => part !== '').join(', ');
      const prefix = name === '' ? '' : `${name}: `;
      return `${status.toUpperCase().padEnd(7)} ${prefix}${evidence}.${fix === null ? '' : ` Do: ${fix}`}`;
    }),
    '',
  ].join('\n');
}

function toMarkdown(report: PayTestReport): string {
  const rows = listPrintedTrials(report).map(({ status, label, route, evidence, fix }) => {
    const cells = [
      status,
      label,
      toMarkdownCode(route ?? ''),
      toMarkdownCode(evidence),
      fix === null ? '' : toMarkdownCode(fix),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const header = ['| | trial | route | seen | do |', '|---|---|---|---|---|'];
  return [`**${toHeadline(report)}**`, '', ...header, ...rows, ''].join('\n');
}

/** The rules of SARIF and JUnit are the trials. */
function toFindings(report: PayTestReport, pipelineFile: string | null): Findings {
  const { target, trials, summary } = report;
  const answer = toHeadline(report);
  const ids = [...new Set(trials.map(({ id }) => id))];
  return {
    tool: { name: 'x402-pay-test' },
    title: 'x402 pay-test',
    target,
    headline: answer,
    sarifProperties: { target, answer, summary },
    junitProperties: [['answer', answer]],
    fingerprintName: 'trial/v1',
    pipelineFile,
    rules: ids.map((id) => ({
      id,
      name: TRIALS[id].title,
      description: `${id} ${TRIALS[id].title}`,
      help: EXPLANATIONS[id].fix,
    })),
    items: trials.map((trial) => {
      const { id, title, status, route, evidence } = trial;
      const name = `${id} ${title}`;
      const wasRun = status !== 'not_run';
      return {
        id,
        name,
        label: route === null ? name : `${name}, ${route}`,
        group: route ?? 'pay-test',
        kind: id,
        status: wasRun ? status : 'skipped',
        severity: status === 'fail' ? 'critical' : 'minor',
        text: wasRun ? toFindingText(trial) : evidence,
        location: null,
        identity: route ?? '',
        properties: { route },
      };
    }),
  };
}
