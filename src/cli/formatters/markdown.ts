/** Markdown for a pull request or an issue: who can pay, the grade, the problems as a table, passes as a count. */
import type { IndexedRow } from '../../model/indexed.ts';
import type { OtherWay, ResourcePayability } from '../../model/payability.ts';
import type { Advice, CheckResult } from '../../model/report.ts';
import { byRootCause } from '../../model/verdict.ts';
import { answerLine } from '../../words/answer-line.ts';
import { idRanges, toCheckLabel, unevaluatedText } from '../../words/check-phrases.ts';
import { INDEX_NAMES, indexedWords, isWorthShowing } from '../../words/indexed-words.ts';
import { asCode, escapeText } from './escapes.ts';
import { isOpen, isProblem, type Printable } from './findings.ts';
import { exhaustedLines, offlineLine, undeterminedIn } from './text.ts';

export function formatMarkdown({ report, printed }: Printable): string {
  const { protocol, docs, standing } = report.subScores;
  const causes = byRootCause(printed, report.results);
  const folded = new Set([...causes.values()].flat());
  const problems = printed
    .filter((result) => isProblem(result) && !isOpen(result) && !folded.has(result))
    .toSorted((a, b) => isWarning(a) - isWarning(b));
  const passed = printed.filter(({ status }) => status === 'pass').length;
  return [
    `# ${escapeText(report.origin)}: grade ${report.grade}, ${report.score}/100`,
    '',
    answer(answerLine(report)),
    '',
    `Protocol ${protocol ?? 'not determined'}, Docs ${docs ?? 'not determined'}, Standing ${standing ?? 'not determined'}. ` +
      `${passed} of ${printed.length} checks passed.${failures(causes, problems)} Checks ${report.checksVersion}, scanned ${report.scannedAt}.`,
    '',
    ...exhaustedLines(report).flatMap((line) => [line, '']),
    ...(problems.length === 0 ? ['Nothing to mend.'] : table(problems)),
    '',
    ...unevaluated(causes),
    ...undetermined(printed),
    ...offers(report.payability ?? []),
    ...otherWays(report.otherWays ?? []),
    ...advice(report.advice),
    ...inIndexes(report.indexed),
  ].join('\n');
}

function isWarning({ status }: CheckResult): number {
  return status === 'warn' ? 1 : 0;
}

/** The verdict is our text; the rest quotes the origin and is written as code. */
function answer(line: string): string {
  const [, verdict, rest] = /^([A-Za-z ]+:) (.+)$/s.exec(line) ?? [];
  return rest === undefined ? asCode(line) : `**${verdict}** ${asCode(rest)}`;
}

type Causes = ReadonlyMap<string, readonly CheckResult[]>;

/** " 1 failed, 19 not evaluated because of it." */
function failures(causes: Causes, problems: readonly CheckResult[]): string {
  if (causes.size === 0) return '';
  const failed = problems.filter(({ status }) => status === 'fail').map(({ id }) => id);
  return ` ${failed.length} failed, ${unevaluatedText(causes, failed)}.`;
}

/** One line for all that follows from one failure. */
function unevaluated(causes: Causes): readonly string[] {
  return [...causes].flatMap(([cause, results]) => [
    `Not evaluated because of ${cause}: ${idRanges(results.map(({ id }) => id))}`,
    '',
  ]);
}

function undetermined(printed: readonly CheckResult[]): readonly string[] {
  const offline = offlineLine(printed);
  return [
    ...undeterminedIn(printed).flatMap(({ names, why }) => [
      `Not determined: ${names}: ${asCode(why)}`,
      '',
    ]),
    ...(offline === null ? [] : [offline, '']),
  ];
}

function offers(payability: readonly ResourcePayability[]): readonly string[] {
  const rows = payability.flatMap(({ method, path, offers: all }) =>
    all.map(
      ({ pointer, scheme, network, amount, verdict, words }) =>
        `| ${asCode(`${method} ${path}`)} | ${asCode(`${pointer} ${scheme ?? '?'} on ${network ?? '?'}, ${amount ?? '?'}`)} | ${verdict} | ${words === null ? '' : asCode(words)} |`,
    ),
  );
  if (rows.length === 0) return [];
  return ['| resource | offer | official client | says |', '|---|---|---|---|', ...rows, ''];
}

function otherWays(ways: readonly OtherWay[]): readonly string[] {
  if (ways.length === 0) return [];
  const rows = ways.map(
    ({ method, path, protocol, methods }) =>
      `| ${asCode(`${method} ${path}`)} | ${protocol} | ${methods.length === 0 ? '' : asCode(methods.join(', '))} |`,
  );
  return ['| other way to pay, ungraded | over | by |', '|---|---|---|', ...rows, ''];
}

function advice(all: readonly Advice[]): readonly string[] {
  if (all.length === 0) return [];
  const rows = all.map(
    ({ id, evidence, fix }) => `| ${id} | ${asCode(evidence)} | ${escapeText(fix)} |`,
  );
  return ['| advice, ungraded | seen | do |', '|---|---|---|', ...rows, ''];
}

function inIndexes(rows: readonly IndexedRow[]): readonly string[] {
  if (!isWorthShowing(rows)) return [];
  const lines = rows.map((row) => {
    const resource = asCode(`${row.method} ${row.resource}`);
    return `| ${INDEX_NAMES[row.index]} | ${resource} | ${asCode(indexedWords(row))} |`;
  });
  return ['| in the indexes, ungraded | resource | what it holds |', '|---|---|---|', ...lines, ''];
}

function table(problems: readonly CheckResult[]): readonly string[] {
  return [
    '| | check | seen | do |',
    '|---|---|---|---|',
    ...problems.map(
      (result) =>
        `| ${result.status} | ${toCheckLabel(result)} | ${asCode(result.evidence)} | ${escapeText(result.fix)} |`,
    ),
  ];
}
