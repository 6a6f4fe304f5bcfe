/** The report of a pay-test in every format of `scan`: rules are the trials. */
import {
  type PayTestReport,
  TRIAL_STATUSES,
  TRIALS,
  type TrialId,
  type TrialResult,
} from '../../pay-test/result.ts';
import { escapeLinks } from './escape-links.ts';
import { findingText } from './findings.ts';
import type { FormatName } from './format-names.ts';
import { breakCommands, escapeXmlCommands, toPrintedJson } from './workflow-commands.ts';

export function formatPayTest(report: PayTestReport, format: FormatName): string {
  return FORMATS[format](report);
}

const FORMATS: Readonly<Record<FormatName, (report: PayTestReport) => string>> = {
  text: (report) => breakCommands(toText(report)),
  json: (report) => toPrintedJson(report),
  sarif: (report) => toPrintedJson(toSarif(report)),
  junit: toJunit,
  markdown: toMarkdown,
  github: toGithub,
  codequality: (report) => toPrintedJson(toCodeQuality(report)),
};

/** "Takes money and delivers: yes. Gives away for nothing: 2 ways." */
export function payTestSentence({ summary: { delivers, gifts } }: PayTestReport): string {
  const ways = gifts === 0 ? 'no way' : `${gifts} way${gifts === 1 ? '' : 's'}`;
  return `Takes money and delivers: ${delivers ? 'yes' : 'no'}. Gives away for nothing: ${ways}.`;
}

function worstFirst({ trials }: PayTestReport): readonly TrialResult[] {
  const rank = ({ status }: TrialResult) => TRIAL_STATUSES.indexOf(status);
  return trials.toSorted((one, other) => rank(one) - rank(other));
}

function isFinding({ status }: TrialResult): boolean {
  return status === 'fail' || status === 'warn';
}

function nameOf({ id, title, route }: TrialResult): string {
  return route === null ? `${id} ${title}` : `${id} ${title}, ${route}`;
}

function toText(report: PayTestReport): string {
  const { pass, warn, fail, not_run: notRun } = report.summary;
  const label = ({ status }: TrialResult) => status.replace('_', ' ').toUpperCase().padEnd(7);
  return [
    payTestSentence(report),
    `${report.target}: ${fail} failed, ${warn} warned, ${pass} passed, ${notRun} not run`,
    '',
    ...worstFirst(report).map((one) => {
      const fix = isFinding(one) ? ` Do: ${one.fix}` : '';
      return `${label(one)} ${nameOf(one)}: ${one.evidence}.${fix}`;
    }),
    '',
  ].join('\n');
}

function toMarkdown(report: PayTestReport): string {
  const cell = (text: string) =>
    `<code>${text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]()#+!|<>~&@:]/g, (one) => `&#${one.codePointAt(0)};`)}</code>`;
  const row = (one: TrialResult) =>
    `| ${one.status.replace('_', ' ')} | ${one.id} ${one.title} | ${cell(one.route ?? '')} | ${cell(one.evidence)} | ${isFinding(one) ? cell(one.fix) : ''} |`;
  return [
    `**${payTestSentence(report)}**`,
    '',
    '| | trial | route | seen | do |',
    '|---|---|---|---|---|',
    ...worstFirst(report).map(row),
    '',
  ].join('\n');
}

function toGithub(report: PayTestReport): string {
  const data = (text: string) =>
    breakCommands(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const lines = worstFirst(report)
    .filter(isFinding)
    .map((one) => {
      const level = one.status === 'fail' ? 'error' : 'warning';
      return `::${level} title=${property(nameOf(one))}::${data(findingText(one))}`;
    });
  const summary = `::notice title=x402 pay-test::${data(`${report.target}: ${payTestSentence(report)}`)}`;
  return `${[...lines, summary].join('\n')}\n`;
}

function toSarif(report: PayTestReport): object {
  const ids = [...new Set(report.trials.map(({ id }) => id))];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'x402-pay-test', rules: ids.map((id) => toRule(id, report)) },
        },
        properties: {
          target: report.target,
          answer: payTestSentence(report),
          summary: report.summary,
        },
        results: report.trials.filter(isFinding).map((one) => ({
          ruleId: one.id,
          ruleIndex: ids.indexOf(one.id),
          level: one.status === 'fail' ? 'error' : 'warning',
          message: { text: escapeLinks(findingText(one)) },
          locations: [{ physicalLocation: { artifactLocation: { uri: `${report.target}/` } } }],
          partialFingerprints: { 'trial/v1': `${one.id}/${one.route ?? ''}` },
          properties: { route: one.route },
        })),
      },
    ],
  };
}

function toRule(id: TrialId, { trials }: PayTestReport): object {
  const fix = trials.find((one) => one.id === id)?.fix ?? '';
  return {
    id,
    name: TRIALS[id],
    shortDescription: { text: `${id} ${TRIALS[id]}` },
    help: { text: escapeLinks(fix) },
  };
}

function toJunit(report: PayTestReport): string {
  const { fail, not_run: notRun } = report.summary;
  const counts = `tests="${report.trials.length}" failures="${fail}" skipped="${notRun}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="x402 pay-test" ${counts}>`,
    `  <testsuite name="${escapeXml(report.target)}" ${counts}>`,
    '    <properties>',
    `      <property name="answer" value="${escapeXml(payTestSentence(report))}"/>`,
    '    </properties>',
    ...report.trials.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(one: TrialResult): string {
  const name = `${one.id} ${one.title}`;
  const open = `    <testcase name="${escapeXml(name)}" classname="${escapeXml(one.route ?? 'pay-test')}"`;
  const detail = escapeXml(findingText(one));
  if (one.status === 'not_run') {
    return `${open}><skipped message="${escapeXml(one.evidence)}"/></testcase>`;
  }
  if (one.status === 'fail') {
    return `${open}><failure type="${one.id}" message="${detail}"/></testcase>`;
  }
  if (one.status === 'warn') return `${open}><system-out>${detail}</system-out></testcase>`;
  return `${open}/>`;
}

function toCodeQuality(report: PayTestReport): object {
  return report.trials.filter(isFinding).map((one) => ({
    description: findingText(one),
    check_name: one.id,
    fingerprint: `x402-pay-test/${one.id}/${one.route ?? ''}`,
    severity: one.status === 'fail' ? 'critical' : 'minor',
    location: { path: one.route ?? report.target, lines: { begin: 1 } },
  }));
}

const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escapeXml(text: string): string {
  const escaped = text
    .replace(NOT_XML, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\r', '&#13;');
  return escapeXmlCommands(escaped);
}
