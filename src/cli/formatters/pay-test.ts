import {
  type PayTestReport,
  TRIAL_STATUSES,
  TRIALS,
  type TrialResult,
} from '../../pay-test/result.ts';
import { writeAnnotation } from './annotations.ts';
import { findingText } from './findings.ts';
import type { FormatName } from './format-names.ts';
import { writeJunit } from './junit-xml.ts';
import { asCode } from './markdown-text.ts';
import { toUrlLocation, writeSarif } from './sarif-log.ts';
import { writeViolations } from './violations.ts';
import { breakCommands, toPrintedJson } from './workflow-commands.ts';

const FORMATS: Readonly<Record<FormatName, (report: PayTestReport) => string>> = {
  text: (report) => breakCommands(toText(report)),
  json: (report) => toPrintedJson(report),
  sarif: toSarif,
  junit: toJunit,
  markdown: toMarkdown,
  github: toGithub,
  codequality: toCodeQuality,
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

function isFinding({ status }: TrialResult): boolean {
  return status === 'fail' || status === 'warn';
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
      const fix = isFinding(trial) ? ` Do: ${trial.fix}` : '';
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
      isFinding(trial) ? asCode(fix) : '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = ['| | trial | route | seen | do |', '|---|---|---|---|---|'];
  return [`**${toSentence(report)}**`, '', ...head, ...rows, ''].join('\n');
}

function toGithub(report: PayTestReport): string {
  const lines = sortWorstFirst(report)
    .filter(isFinding)
    .map((trial) => {
      const level = trial.status === 'fail' ? 'error' : 'warning';
      return writeAnnotation(level, toLabel(trial), findingText(trial));
    });
  const text = `${report.target}: ${toSentence(report)}`;
  return `${[...lines, writeAnnotation('notice', 'x402 pay-test', text)].join('\n')}\n`;
}

function toSarif(report: PayTestReport): string {
  const { target, trials, summary } = report;
  const fixes = new Map(trials.map(({ id, fix }) => [id, fix]));
  return writeSarif({
    tool: { name: 'x402-pay-test' },
    rules: [...fixes].map(([id, help]) => ({
      id,
      name: TRIALS[id],
      description: `${id} ${TRIALS[id]}`,
      help,
    })),
    properties: { target, answer: toSentence(report), summary },
    results: trials.filter(isFinding).map((trial) => ({
      ruleId: trial.id,
      isFailure: trial.status === 'fail',
      text: findingText(trial),
      physicalLocation: toUrlLocation(target),
      fingerprints: { 'trial/v1': `${trial.id}/${trial.route ?? ''}` },
      properties: { route: trial.route },
    })),
  });
}

function toJunit(report: PayTestReport): string {
  return writeJunit({
    title: 'x402 pay-test',
    name: report.target,
    properties: [['answer', toSentence(report)]],
    cases: report.trials.map((trial) => ({
      name: `${trial.id} ${trial.title}`,
      className: trial.route ?? 'pay-test',
      status: trial.status === 'not_run' ? 'skipped' : trial.status,
      type: trial.id,
      text: trial.status === 'not_run' ? trial.evidence : findingText(trial),
    })),
  });
}

function toCodeQuality({ target, trials }: PayTestReport): string {
  return writeViolations(
    trials.filter(isFinding).map((trial) => ({
      rule: `x402/${trial.id}`,
      text: `${toLabel(trial)}: ${findingText(trial)}`,
      identity: `${target} ${trial.id} ${trial.route ?? ''}`,
      severity: trial.status === 'fail' ? 'critical' : 'minor',
    })),
  );
}
