import {
  type PayTestReport,
  TRIAL_STATUSES,
  TRIALS,
  type TrialResult,
} from '../../pay-test/result.ts';
import type { FormatName } from '../usage.ts';
import { asCode, breakCommands, toPrintedJson } from './escapes.ts';
import { type Findings, findingText, isProblem } from './findings.ts';
import { formatJunit } from './junit.ts';
import { formatCodeQuality, formatGithub } from './pipelines.ts';
import { formatSarif } from './sarif.ts';

const FORMATS: Readonly<Record<FormatName, (report: PayTestReport) => string>> = {
  text: (report) => breakCommands(toText(report)),
  json: (report) => toPrintedJson(report),
  sarif: (report) => formatSarif(toFindings(report)),
  junit: (report) => formatJunit(toFindings(report)),
  markdown: toMarkdown,
  github: (report) => formatGithub(toFindings({ ...report, trials: sortWorstFirst(report) })),
  codequality: (report) => formatCodeQuality(toFindings(report)),
};

/** Writes the report in any format of `scan`; the rules of SARIF and JUnit are the trials. */
export function formatPayTest(report: PayTestReport, format: FormatName): string {
  return FORMATS[format](report);
}

/** "Takes money and delivers: yes. Gives away for nothing: 2 ways." */
function toSentence({ summary: { delivers, gifts } }: PayTestReport): string {
  const ways = gifts === 0 ? 'no way' : `${gifts} way${gifts === 1 ? '' : 's'}`;
  return `Takes money and delivers: ${delivers ? 'yes' : 'no'}. Gives away for nothing: ${ways}.`;
}

function sortWorstFirst({ trials }: PayTestReport): readonly TrialResult[] {
  const rank = ({ status }: TrialResult) => TRIAL_STATUSES.indexOf(status);
  return trials.toSorted((one, other) => rank(one) - rank(other));
}

function toLabel({ id, title, route }: TrialResult): string {
  return route === null ? `${id} ${title}` : `${id} ${title}, ${route}`;
}

function toText(report: PayTestReport): string {
  const { pass, warn, fail, not_run } = report.summary;
  const status = (trial: TrialResult) => trial.status.replace('_', ' ').toUpperCase().padEnd(7);
  return [
    toSentence(report),
    `${report.target}: ${fail} failed, ${warn} warned, ${pass} passed, ${not_run} not run`,
    '',
    ...sortWorstFirst(report).map((trial) => {
      const fix = isProblem(trial) ? ` Do: ${trial.fix}` : '';
      return `${status(trial)} ${toLabel(trial)}: ${trial.evidence}.${fix}`;
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
      asCode(route ?? ''),
      asCode(evidence),
      isProblem(trial) ? asCode(fix) : '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = ['| | trial | route | seen | do |', '|---|---|---|---|---|'];
  return [`**${toSentence(report)}**`, '', ...head, ...rows, ''].join('\n');
}

/** The rules are the trials. */
function toFindings(report: PayTestReport): Findings {
  const { target, trials, summary } = report;
  const answer = toSentence(report);
  const fixes = new Map(trials.map(({ id, fix }) => [id, fix]));
  return {
    tool: { name: 'x402-pay-test' },
    title: 'x402 pay-test',
    target,
    headline: answer,
    properties: { target, answer, summary },
    lines: [['answer', answer]],
    fingerprint: 'trial/v1',
    rules: [...fixes].map(([id, help]) => ({
      id,
      name: TRIALS[id],
      description: `${id} ${TRIALS[id]}`,
      help,
    })),
    items: trials.map((trial) => {
      const { id, title, status, route, evidence } = trial;
      const isRun = status !== 'not_run';
      return {
        ...{ id, name: `${id} ${title}`, label: toLabel(trial), kind: id },
        group: route ?? 'pay-test',
        status: isRun ? status : 'skipped',
        severity: status === 'fail' ? 'critical' : 'minor',
        text: isRun ? findingText(trial) : evidence,
        place: null,
        identity: route ?? '',
        properties: { route },
      };
    }),
  };
}
