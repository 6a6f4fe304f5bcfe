/** The report for people: the grade, then failures, then warnings, each with evidence and fix. */
import { styleText } from 'node:util';
import type { IndexedRow } from '../../scanner/model/indexed.ts';
import type { OtherWay } from '../../scanner/model/payability.ts';
import type {
  BudgetName,
  CheckResult,
  Grade,
  ScanReport,
  SubScores,
} from '../../scanner/model/report.ts';
import { formatOtherWay } from '../../scanner/parse/x402/other-protocol.ts';
import { toAnswerLine } from '../../scanner/report/answer-line.ts';
import { toCheckLabel, toHeading, toIdRanges } from '../../scanner/report/check-phrases.ts';
import {
  formatIndexedRow,
  INDEX_NAMES,
  isWorthShowing,
} from '../../scanner/report/indexed-words.ts';
import { defuseCommands } from './escapes.ts';
import { isUndetermined, type PrintableScan, sortResults } from './findings.ts';

type Style = Parameters<typeof styleText>[0];

const GRADE_STYLES: Record<Grade, Style> = {
  A: ['bold', 'green'],
  B: ['bold', 'green'],
  C: ['bold', 'yellow'],
  D: ['bold', 'yellow'],
  F: ['bold', 'red'],
};

type Terminal = {
  readonly columns: number;
  paint(style: Style, text: string): string;
  /** Breaks a text into lines. The indents are two spaces by default; `indent` is by default that of the first line. */
  wrap(text: string, firstIndent?: string, indent?: string): readonly string[];
};

const MAX_COLUMNS = 110;
const MIN_COLUMNS = 40;

export function formatText(scan: PrintableScan): string {
  const { report, printed } = scan;
  const terminal = toTerminal(scan);
  const { paint, wrap } = terminal;
  const { fail, warn, pass, causes, unevaluatedText } = sortResults(scan);
  const unevaluatedNote = unevaluatedText === '' ? '' : `, ${unevaluatedText}`;
  const undeterminedCount = printed.filter(isUndetermined).length;
  const undeterminedNote = undeterminedCount === 0 ? '' : `, ${undeterminedCount} not determined`;
  const offline = offlineLine(printed);
  const lines = [
    '',
    ...wrap(toAnswerLine(report)).map((line) => paint('bold', line)),
    ...(report.named === undefined ? [] : wrap(report.named.words)),
    '',
    `  ${paint(GRADE_STYLES[report.grade], `${report.grade}  ${report.score}/100`)}  ${paint('bold', report.origin)}`,
    `  ${subScoreLine(report.subScores)}`,
    `  ${fail.length} failed${unevaluatedNote}, ${warn.length} warned, ${pass.length} passed${undeterminedNote} · checks ${report.checksVersion} · ${report.scannedAt}`,
    ...catalogLines(scan).flatMap((line) => wrap(line)),
    '',
    ...exhaustedLines(report).flatMap((line) => [...wrap(line), '']),
    ...groupProblems([...fail, ...warn]).flatMap((problem) => problemLines(problem, terminal)),
    ...otherWayLines(report.otherWays, terminal),
    ...unevaluatedLines(causes, terminal),
    ...adviceLines(report.advice, terminal),
    ...indexedLines(report.indexed, terminal),
    ...passedLines(pass, terminal),
    ...undeterminedLines(groupUndetermined(printed), terminal),
    ...(offline === null ? [] : ['', ...wrap(offline, '  ', '    ')]),
  ];
  const withoutDoubleBlanks = lines.filter((line, index) => line !== '' || lines[index - 1] !== '');
  return defuseCommands(`${withoutDoubleBlanks.join('\n')}\n`);
}

function toTerminal({ columns: wantedColumns, hasColours }: PrintableScan): Terminal {
  const columns = Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, wantedColumns));
  return {
    columns,
    paint: (style, text) => (hasColours ? styleText(style, text, { validateStream: false }) : text),
    wrap: (text, firstIndent = '  ', indent = firstIndent) =>
      breakAtSpaces(text, columns, firstIndent, indent),
  };
}

function subScoreLine({ protocol, docs, standing }: SubScores): string {
  const part = (label: string, score: number | null) => `${label} ${score ?? 'not determined'}`;
  return [part('Protocol', protocol), part('Docs', docs), part('Standing', standing)].join(' · ');
}

/** Names the newest catalog and the service's, if they differ; the service may give another grade. */
export function catalogLines({ catalogs: { newest, service } }: PrintableScan): readonly string[] {
  if (newest === service) return [];
  return [
    `The newest checks are ${newest}; the service judges by ${service} (--checks-version service).`,
  ];
}

/** Checks that were not evaluated for the same reason are one problem. */
function groupProblems(results: readonly CheckResult[]): readonly (readonly CheckResult[])[] {
  const groups = Map.groupBy(results, ({ id, basis, evidence }) =>
    basis === 'not_evaluated' ? evidence : id,
  );
  return [...groups.values()];
}

/** @param problem results with the same evidence and fix */
function problemLines(
  problem: readonly CheckResult[],
  { paint, wrap }: Terminal,
): readonly string[] {
  const titles = problem.map(({ id, title, status, severity, basis }) => {
    const label = paint(['bold', status === 'fail' ? 'red' : 'yellow'], status.toUpperCase());
    const note = basis === 'measured' ? '' : `, ${basis.replace('_', ' ')}`;
    return `  ${label} ${paint('bold', `${id} ${toHeading(title)}`)} (${title}, ${severity}${note})`;
  });
  const [first] = problem;
  return [
    ...titles,
    ...wrap(first?.evidence ?? '', '    seen  ', '          '),
    ...wrap(first?.fix ?? '', '    do    ', '          '),
    '',
  ];
}

function otherWayLines(ways: readonly OtherWay[], { paint, wrap }: Terminal): readonly string[] {
  if (ways.length === 0) return [];
  return [
    `  ${paint(['bold', 'cyan'], 'OTHER WAYS TO PAY')} (not graded)`,
    ...ways.flatMap((way) => wrap(formatOtherWay(way), '    ', '      ')),
    '',
  ];
}

/** One line for all checks that one failure prevents; the score still counts each check as failed. */
function unevaluatedLines(
  causes: ReadonlyMap<string, readonly CheckResult[]>,
  terminal: Terminal,
): readonly string[] {
  return [...causes].flatMap(([cause, results]) => {
    const ids = toIdRanges(results.map(({ id }) => id));
    return [...labelledLines('SKIP', `${ids}: not evaluated because of ${cause}`, terminal), ''];
  });
}

/** Begins with a dim label. The label is painted after the wrap, because codes of colours take no columns. */
function labelledLines(label: string, text: string, { paint, wrap }: Terminal): readonly string[] {
  const [first = '', ...rest] = wrap(text, `  ${label} `, '    ');
  return [first.replace(label, () => paint('dim', label)), ...rest];
}

/** Advice does not affect the grade. */
function adviceLines(
  advice: PrintableScan['report']['advice'],
  { paint, wrap }: Terminal,
): readonly string[] {
  return advice.flatMap(({ id, evidence, fix }) => [
    `  ${paint(['bold', 'cyan'], 'NOTE')} ${paint('bold', id)} (not graded)`,
    ...wrap(evidence, '    seen  ', '          '),
    ...wrap(fix, '    do    ', '          '),
    '',
  ]);
}

function indexedLines(rows: readonly IndexedRow[], { paint, wrap }: Terminal): readonly string[] {
  if (!isWorthShowing(rows)) return [];
  return [
    `  ${paint(['bold', 'cyan'], 'IN THE INDEXES')} (not graded)`,
    ...rows.flatMap((row) => {
      const line = `${INDEX_NAMES[row.index]}, ${row.method} ${row.resource}: ${formatIndexedRow(row)}`;
      return wrap(line, '    ', '      ');
    }),
    '',
  ];
}

function passedLines(passed: readonly CheckResult[], terminal: Terminal): readonly string[] {
  const { columns, paint, wrap } = terminal;
  if (passed.length === 0) return [];
  const width = Math.max(...passed.map((result) => toCheckLabel(result).length));
  const isNarrow = columns < width + MIN_COLUMNS;
  return [
    `  ${paint(['bold', 'green'], 'PASS')}`,
    ...passed.flatMap((result) => {
      const label = toCheckLabel(result);
      if (isNarrow) return [`    ${label}`, ...wrap(result.evidence, '      ')];
      const first = `    ${label.padEnd(width)}  `;
      return wrap(result.evidence, first, ' '.repeat(width + 6));
    }),
  ];
}

/** Undetermined checks share a line, because the seller has nothing to fix and the score leaves them out. */
function undeterminedLines(groups: readonly Undetermined[], terminal: Terminal): readonly string[] {
  if (groups.length === 0) return [];
  const text = groups.map(({ names, why }) => `${names}: ${why}`).join('; ');
  return ['', ...labelledLines('NOT DETERMINED', text, terminal)];
}

/** Undetermined checks with the same reason. */
export type Undetermined = {
  /** "D1 Listing on x402scan (x402scan-registered), D5 Listing on x402.org (x402-org-ecosystem)" */
  readonly names: string;
  readonly why: string;
};

/** Checks give this evidence for a lookup that `--offline` switched off. */
const OFFLINE_EVIDENCE = /: not asked, offline \(/;

/** Lists the checks that `--offline` left out; null if there are none. */
export function offlineLine(results: readonly CheckResult[]): string | null {
  const ids = results.filter(wasOffline).map(({ id }) => id);
  return ids.length === 0 ? null : `Not checked because of --offline: ${toIdRanges(ids)}`;
}

function wasOffline(result: CheckResult): boolean {
  return isUndetermined(result) && OFFLINE_EVIDENCE.test(result.evidence);
}

/** Groups undetermined checks by reason, without the checks that `--offline` left out. */
export function groupUndetermined(results: readonly CheckResult[]): readonly Undetermined[] {
  const undetermined = results.filter((result) => isUndetermined(result) && !wasOffline(result));
  const byReason = Map.groupBy(undetermined, ({ evidence }) => evidence);
  return [...byReason].map(([why, group]) => ({
    names: group.map(toCheckLabel).join(', '),
    why,
  }));
}

const EXHAUSTED_TEXTS = {
  origin:
    'Not judged: its documents take more processor time than a scan has. Every check that reads them fails. Serve smaller documents.',
  standing:
    'Not judged: the answers of third parties about it take more processor time than a scan has. No check of its standing counts.',
} as const satisfies Record<BudgetName, string>;

/** One line for each processor-time budget that the scan used up. */
export function exhaustedLines({ exhausted = [] }: ScanReport): readonly string[] {
  return exhausted.map((name) => EXHAUSTED_TEXTS[name]);
}

/** Breaks a text at spaces so that no line is wider than `columns`. A longer word stays whole. */
function breakAtSpaces(
  text: string,
  columns: number,
  firstIndent: string,
  indent: string,
): readonly string[] {
  const lines: string[] = [];
  let line = firstIndent;
  let isEmpty = true;
  for (const word of text.split(/\s+/)) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
