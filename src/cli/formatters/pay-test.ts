import {
  type PayTestReport,
  TRIAL_STATUSES,
  TRIALS,
  type TrialResult,
} from '../../pay-test/result.ts';
import type { FormatName } from '../usage.ts';
import { breakCommands, toMarkdownCode, toPrintedJson } from './escapes.ts';
import { type Findings, isProblem, toFindingText } from './findings.ts';
import { formatJunit } from './junit.ts';
import { formatCodeQuality, formatGithub } from './pipelines.ts';
import { formatSarif } from './sarif.ts';

const FORMATS: Readonly<
  Record<FormatName, (report: PayTestReport, pipelineFile: string | null) => string>
> = {
  text: (report) => breakCommands(toText(report)),
  json: (report) => toPrintedJson(report),
  sarif: (report, file) => formatSarif(toFindings(report, file)),
  junit: (report, file) => formatJunit(toFindings(report, file)),
  markdown: toMarkdown,
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

/** "Takes money and delivers: yes. Gives away for nothing: 2 ways." */
function toHeadline({ summary: { delivers, gifts } }: PayTestReport): string {
  const wayCount = gifts === 0 ? 'no way' : `${gifts} way${gifts === 1 ? '' : 's'}`;
  return `Takes money and delivers: ${delivers ? 'yes' : 'no'}. Gives away for nothing: ${wayCount}.`;
}

function sortWorstFirst({ trials }: PayTestReport): readonly TrialResult[] {
  const rank = ({ status }: TrialResult) => TRIAL_STATUSES.indexOf(status);
  return trials.toSorted((a, b) => rank(a) - rank(b));
}

function toLabel({ id, title, route }: TrialResult): string {
  return route === null ? `${id} ${title}` : `${id} ${title}, ${route}`;
}

function toText(report: PayTestReport): string {
  const { pass, warn, fail, not_run } = report.summary;
  const toStatusLabel = (trial: TrialResult) =>
    trial.status.replace('_', ' ').toUpperCase().padEnd(7);
  return [
    toHeadline(report),
    `${report.target}: ${fail} failed, ${warn} warned, ${pass} passed, ${not_run} not run`,
    '',
    ...sortWorstFirst(report).map((trial) => {
      const fix = isProblem(trial) ? ` Do: ${trial.fix}` : '';
      return `${toStatusLabel(trial)} ${toLabel(trial)}: ${trial.evidence}.${fix}`;
    }),
    '',
  ].join('\n');
}

function toMarkdown(report: PayTestReport): string {
  const rows = sortWorstFirst(report).map((trial) => {
    const { id, title, status, route, evidence, fix } = trial;
    const cells = [
      status.replace('_', ' '),
      `${id} ${title}`,
      toMarkdownCode(route ?? ''),
      toMarkdownCode(evidence),
      isProblem(trial) ? toMarkdownCode(fix) : '',
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
  const fixes = new Map(trials.map(({ id, fix }) => [id, fix]));
  return {
    tool: { name: 'x402-pay-test' },
    title: 'x402 pay-test',
    target,
    headline: answer,
    sarifProperties: { target, answer, summary },
    junitProperties: [['answer', answer]],
    fingerprintName: 'trial/v1',
    pipelineFile,
    rules: [...fixes].map(([id, help]) => ({
      id,
      name: TRIALS[id],
      description: `${id} ${TRIALS[id]}`,
      help,
    })),
    items: trials.map((trial) => {
      const { id, title, status, route, evidence } = trial;
      const wasRun = status !== 'not_run';
      return {
        ...{ id, name: `${id} ${title}`, label: toLabel(trial), kind: id },
        group: route ?? 'pay-test',
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
