/** Markdown for a pull request or an issue: who can pay, the grade, and a table of problems. */
import type { IndexedRow } from '../../scanner/model/indexed.ts';
import type { OtherWay, ResourcePayability } from '../../scanner/model/payability.ts';
import type { Advice, CheckResult } from '../../scanner/model/report.ts';
import { toAnswerLine } from '../../scanner/report/answer-line.ts';
import { toCheckLabel, toIdRanges } from '../../scanner/report/check-phrases.ts';
import {
  formatIndexedRow,
  INDEX_NAMES,
  isWorthShowing,
} from '../../scanner/report/indexed-words.ts';
import { escapeMarkdown, toMarkdownCode } from './escapes.ts';
import { type PrintableScan, sortResults } from './findings.ts';
import { catalogLines, exhaustedLines, groupUndetermined, offlineLine } from './text.ts';

export function formatMarkdown(scan: PrintableScan): string {
  const { report, printed } = scan;
  const { protocol, docs, standing } = report.subScores;
  const { fail, warn, pass, causes, unevaluatedText } = sortResults(scan);
  const failureCounts = causes.size === 0 ? '' : ` ${fail.length} failed, ${unevaluatedText}.`;
  return [
    `# ${escapeMarkdown(report.origin)}: grade ${report.grade}, ${report.score}/100`,
    '',
    formatAnswer(toAnswerLine(report)),
    '',
    ...(report.named === undefined ? [] : [toMarkdownCode(report.named.words), '']),
    `Protocol ${protocol ?? 'not determined'}, Docs ${docs ?? 'not determined'}, Standing ${standing ?? 'not determined'}. ` +
      `${pass.length} of ${printed.length} checks passed.${failureCounts} Checks ${report.checksVersion}, scanned ${report.scannedAt}.`,
    '',
    ...[...catalogLines(scan), ...exhaustedLines(report)].flatMap((line) => [line, '']),
    ...problemTable([...fail, ...warn]),
    '',
    ...unevaluatedLines(causes),
    ...undeterminedLines(printed),
    ...offerTable(report.payability ?? []),
    ...otherWayTable(report.otherWays),
    ...adviceTable(report.advice),
    ...indexTable(report.indexed),
  ].join('\n');
}

/** Only the verdict is our text; the rest quotes the origin, so it is written as code. */
function formatAnswer(line: string): string {
  const [, verdict, rest] = /^([A-Za-z ]+:) (.+)$/s.exec(line) ?? [];
  return rest === undefined ? toMarkdownCode(line) : `**${verdict}** ${toMarkdownCode(rest)}`;
}

/** One line for all checks that one failure prevents. */
function unevaluatedLines(causes: ReadonlyMap<string, readonly CheckResult[]>): readonly string[] {
  return [...causes].flatMap(([cause, results]) => [
    `Not evaluated because of ${cause}: ${toIdRanges(results.map(({ id }) => id))}`,
    '',
  ]);
}

function undeterminedLines(printed: readonly CheckResult[]): readonly string[] {
  const offline = offlineLine(printed);
  return [
    ...groupUndetermined(printed).flatMap(({ names, why }) => [
      `Not determined: ${names}: ${toMarkdownCode(why)}`,
      '',
    ]),
    ...(offline === null ? [] : [offline, '']),
  ];
}

function offerTable(payability: readonly ResourcePayability[]): readonly string[] {
  const rows = payability.flatMap(({ method, path, offers }) =>
    offers.map(
      ({ pointer, scheme, network, amount, verdict, words }) =>
        `| ${toMarkdownCode(`${method} ${path}`)} | ${toMarkdownCode(`${pointer} ${scheme ?? '?'} on ${network ?? '?'}, ${amount ?? '?'}`)} | ${verdict} | ${words === null ? '' : toMarkdownCode(words)} |`,
    ),
  );
  if (rows.length === 0) return [];
  return ['| resource | offer | official client | says |', '|---|---|---|---|', ...rows, ''];
}

function otherWayTable(ways: readonly OtherWay[]): readonly string[] {
  if (ways.length === 0) return [];
  const rows = ways.map(
    ({ method, path, protocol, methods }) =>
      `| ${toMarkdownCode(`${method} ${path}`)} | ${protocol} | ${methods.length === 0 ? '' : toMarkdownCode(methods.join(', '))} |`,
  );
  return ['| other way to pay, ungraded | over | by |', '|---|---|---|', ...rows, ''];
}

function adviceTable(entries: readonly Advice[]): readonly string[] {
  if (entries.length === 0) return [];
  const rows = entries.map(
    ({ id, evidence, fix }) => `| ${id} | ${toMarkdownCode(evidence)} | ${escapeMarkdown(fix)} |`,
  );
  return ['| advice, ungraded | seen | do |', '|---|---|---|', ...rows, ''];
}

function indexTable(rows: readonly IndexedRow[]): readonly string[] {
  if (!isWorthShowing(rows)) return [];
  const lines = rows.map((row) => {
    const resource = toMarkdownCode(`${row.method} ${row.resource}`);
    return `| ${INDEX_NAMES[row.index]} | ${resource} | ${toMarkdownCode(formatIndexedRow(row))} |`;
  });
  return ['| in the indexes, ungraded | resource | what it holds |', '|---|---|---|', ...lines, ''];
}

function problemTable(problems: readonly CheckResult[]): readonly string[] {
  if (problems.length === 0) return ['Nothing to mend.'];
  return [
    '| | check | seen | do |',
    '|---|---|---|---|',
    ...problems.map(
      (result) =>
        `| ${result.status} | ${toCheckLabel(result)} | ${toMarkdownCode(result.evidence)} | ${escapeMarkdown(result.fix)} |`,
    ),
  ];
}
