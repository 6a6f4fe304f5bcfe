import { type Static, Type } from 'typebox';
import { cleanText } from '../parse/text/text.ts';
import { toCheckLabel } from '../words/check-phrases.ts';

const MAX_LINE_CHARS = 500;

/** Best first; an unknown grade never counts as a regression. */
const GRADES = ['A', 'B', 'C', 'D', 'F'];
const STATUSES = ['pass', 'warn', 'fail'];
const PAYABLE_BY = ['default', 'settings', 'nobody'];

const listingCell = Type.Object({
  index: Type.String(),
  resource: Type.String(),
  method: Type.String(),
  state: Type.String(),
  differences: Type.Array(Type.Object({ field: Type.String(), indexed: Type.String() })),
});
const wayCell = Type.Object({
  method: Type.String(),
  path: Type.String(),
  protocol: Type.String(),
  methods: Type.Array(Type.String()),
});
const resultCell = Type.Object({
  id: Type.String(),
  title: Type.String(),
  status: Type.String(),
  outcome: Type.String(),
  basis: Type.Optional(Type.String()),
});

/** A report in the form of `scan --format json`. Older reports lack the optional members. */
export const comparedReportSchema = Type.Object({
  origin: Type.String(),
  grade: Type.String(),
  score: Type.Integer(),
  checksVersion: Type.String(),
  scannedAt: Type.String(),
  payableBy: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  indexed: Type.Optional(Type.Array(listingCell)),
  otherWays: Type.Optional(Type.Array(wayCell)),
  results: Type.Array(resultCell),
});
export type ComparedReport = Static<typeof comparedReportSchema>;

/**
 * Finds what got worse: the grade, payability, the status of a check. A check that was not observed is no
 * regression.
 */
export function findRegressions(before: ComparedReport, after: ComparedReport): readonly string[] {
  const checks = after.results.flatMap((is) => {
    const was = before.results.find((cell) => cell.id === is.id);
    if (was === undefined || is.basis === 'not_determined') return [];
    return fell(STATUSES, was.status, is.status)
      ? [`${cleanText(is.id, MAX_LINE_CHARS)} ${was.status} -> ${is.status}`]
      : [];
  });
  return [
    ...(fell(GRADES, before.grade, after.grade) ? [`grade ${before.grade} -> ${after.grade}`] : []),
    ...(fell(PAYABLE_BY, before.payableBy, after.payableBy)
      ? [`payableBy ${before.payableBy} -> ${after.payableBy}`]
      : []),
    ...checks,
  ];
}

function fell(order: readonly unknown[], was: unknown, is: unknown): boolean {
  const [from, to] = [order.indexOf(was), order.indexOf(is)];
  return from >= 0 && to > from;
}

/** Lists one line per report and per changed check, safe to print on a terminal. */
export function listDifferences(before: ComparedReport, after: ComparedReport): readonly string[] {
  const ids = [...new Set([...before.results, ...after.results].map(({ id }) => id))];
  const moved = ids.flatMap((id) => {
    const was = before.results.find((cell) => cell.id === id);
    const is = after.results.find((cell) => cell.id === id);
    if (was?.status === is?.status && was?.outcome === is?.outcome) return [];
    const cell = is ?? was;
    const label = cell === undefined ? id : toCheckLabel(cell);
    return [`  ${label}: ${cellText(was)} -> ${cellText(is)}`];
  });
  const head = (report: ComparedReport) =>
    `${report.origin} ${report.scannedAt} by ${report.checksVersion}: ${report.grade} ${report.score}`;
  return [
    head(before),
    head(after),
    moved.length === 0 ? 'No check moved.' : `${moved.length} moved:`,
    ...moved,
    ...movedListings(before, after),
    ...movedWays(before, after),
    // Report files are untrusted, so terminal control characters are removed.
  ].map((line) => `${line.startsWith('  ') ? '  ' : ''}${cleanText(line, MAX_LINE_CHARS)}`);
}

/** Compares index rows; a report without any is skipped. */
function movedListings(before: ComparedReport, after: ComparedReport): readonly string[] {
  if (before.indexed === undefined || after.indexed === undefined) return [];
  return movedTexts(listingTexts(before.indexed), listingTexts(after.indexed));
}

/** Compares other ways to pay; a report without the member is skipped. */
function movedWays(before: ComparedReport, after: ComparedReport): readonly string[] {
  if (before.otherWays === undefined || after.otherWays === undefined) return [];
  return movedTexts(wayTexts(before.otherWays), wayTexts(after.otherWays));
}

function wayTexts(ways: readonly Static<typeof wayCell>[]): ReadonlyMap<string, string> {
  return new Map(
    ways.map(({ method, path, protocol, methods }) => {
      const text = methods.length === 0 ? 'sold' : `sold by ${methods.join(', ')}`;
      return [`${method} ${path} over ${protocol}`, text];
    }),
  );
}

function movedTexts(
  was: ReadonlyMap<string, string>,
  is: ReadonlyMap<string, string>,
): readonly string[] {
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
    const [from, to] = [was.get(name) ?? 'not there', is.get(name) ?? 'not there'];
    return from === to ? [] : [`  ${name}: ${from} -> ${to}`];
  });
}

function listingTexts(rows: readonly Static<typeof listingCell>[]): ReadonlyMap<string, string> {
  return new Map(
    rows.map(({ index, method, resource, state, differences }) => {
      const fields = differences.map(({ field, indexed }) => `${field} ${indexed}`).join(', ');
      const text = fields === '' ? state : `${state} (${fields})`;
      return [`${index} ${method} ${resource}`, text.replaceAll('_', ' ')];
    }),
  );
}

function cellText(cell: Static<typeof resultCell> | undefined): string {
  return cell === undefined ? 'not there' : `${cell.status} (${cell.outcome})`;
}
