/** What moved between two reports, and what fell. */
import { Type } from 'typebox';
import { cleanText } from '../parse/text/text.ts';

const MAX_LINE_CHARS = 500;

/** The members of a report that are compared. */
type Cell = {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly outcome: string;
  readonly basis?: string;
};
export type ComparedReport = {
  readonly origin: string;
  readonly grade: string;
  readonly score: number;
  readonly checksVersion: string;
  readonly scannedAt: string;
  readonly payableBy?: string | null;
  /** Absent in reports that are older than it. */
  readonly indexed?: readonly ListingCell[];
  readonly results: readonly Cell[];
};

type ListingCell = {
  readonly index: string;
  readonly resource: string;
  readonly method: string;
  readonly state: string;
  readonly differences: readonly { readonly field: string; readonly indexed: string }[];
};

/** Best first; what is in none of them cannot have fallen. */
const GRADES = ['A', 'B', 'C', 'D', 'F'];
const STATUSES = ['pass', 'warn', 'fail'];
const PAYABLE_BY = ['default', 'settings', 'nobody'];

/** A report as `scan --format json` writes it. */
export const comparedReportSchema = Type.Object({
  origin: Type.String(),
  grade: Type.String(),
  score: Type.Integer(),
  checksVersion: Type.String(),
  scannedAt: Type.String(),
  payableBy: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  indexed: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.String(),
        resource: Type.String(),
        method: Type.String(),
        state: Type.String(),
        differences: Type.Array(Type.Object({ field: Type.String(), indexed: Type.String() })),
      }),
    ),
  ),
  results: Type.Array(
    Type.Object({
      id: Type.String(),
      title: Type.String(),
      status: Type.String(),
      outcome: Type.String(),
      basis: Type.Optional(Type.String()),
    }),
  ),
});

/** What fell: the grade, who can pay, the status of a check. Nothing falls by not being observed. */
export function regressionsOf(before: ComparedReport, after: ComparedReport): readonly string[] {
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

/** A line for each report, and one for each check that moved; nothing in them steers a terminal. */
export function differencesOf(before: ComparedReport, after: ComparedReport): readonly string[] {
  const ids = [...new Set([...before.results, ...after.results].map(({ id }) => id))];
  const moved = ids.flatMap((id) => {
    const was = before.results.find((cell) => cell.id === id);
    const is = after.results.find((cell) => cell.id === id);
    if (was?.status === is?.status && was?.outcome === is?.outcome) return [];
    return [`  ${id} ${(is ?? was)?.title ?? ''}: ${cellText(was)} -> ${cellText(is)}`];
  });
  const head = (report: ComparedReport) =>
    `${report.origin} ${report.scannedAt} by ${report.checksVersion}: ${report.grade} ${report.score}`;
  return [
    head(before),
    head(after),
    moved.length === 0 ? 'No check moved.' : `${moved.length} moved:`,
    ...moved,
    ...movedListings(before, after),
    // Report files come from anywhere: nothing in them may steer a terminal.
  ].map((line) => `${line.startsWith('  ') ? '  ' : ''}${cleanText(line, MAX_LINE_CHARS)}`);
}

/** Rows of the indexes that moved; a report that has none says nothing of them. */
function movedListings(before: ComparedReport, after: ComparedReport): readonly string[] {
  if (before.indexed === undefined || after.indexed === undefined) return [];
  const was = listingTexts(before.indexed);
  const is = listingTexts(after.indexed);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
    const [from, to] = [was.get(name) ?? 'not there', is.get(name) ?? 'not there'];
    return from === to ? [] : [`  ${name}: ${from} -> ${to}`];
  });
}

function listingTexts(rows: readonly ListingCell[]): ReadonlyMap<string, string> {
  return new Map(
    rows.map(({ index, method, resource, state, differences }) => {
      const fields = differences.map(({ field, indexed }) => `${field} ${indexed}`).join(', ');
      const text = fields === '' ? state : `${state} (${fields})`;
      return [`${index} ${method} ${resource}`, text.replaceAll('_', ' ')];
    }),
  );
}

function cellText(cell: Cell | undefined): string {
  return cell === undefined ? 'not there' : `${cell.status} (${cell.outcome})`;
}
