import { type Static, Type } from 'typebox';
import { cleanText } from '../parse/text/text.ts';
import { toCheckLabel } from './check-phrases.ts';

const MAX_LINE_CHARS = 500;
/** Several times the checks of a catalog. */
const MAX_RESULTS = 200;

// The values of each list stand best first. A value outside its list never counts as a regression.
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
  results: Type.Array(resultCell, { maxItems: MAX_RESULTS }),
});
export type ComparedReport = Static<typeof comparedReportSchema>;

/**
 * Lists what got worse: the grade, payability, the status of a check. A check that was not observed is not
 * a regression.
 */
export function findRegressions(before: ComparedReport, after: ComparedReport): readonly string[] {
  const previousById = indexById(before.results);
  const checks = after.results.flatMap((current) => {
    const previous = previousById.get(current.id);
    if (previous === undefined || current.basis === 'not_determined') return [];
    const label = cleanText(current.id, MAX_LINE_CHARS);
    return listRegression(label, STATUSES, previous.status, current.status);
  });
  return [
    ...listRegression('grade', GRADES, before.grade, after.grade),
    ...listRegression('payableBy', PAYABLE_BY, before.payableBy, after.payableBy),
    ...checks,
  ];
}

/** If an id stands twice, the first result counts. */
function indexById(results: ComparedReport['results']) {
  const byId = new Map<string, (typeof results)[number]>();
  for (const cell of results) if (!byId.has(cell.id)) byId.set(cell.id, cell);
  return byId;
}

/** Returns one line if the value got worse, otherwise none. `order` has the best value first. */
function listRegression<T>(label: string, order: readonly T[], before: T, after: T): string[] {
  const [from, to] = [order.indexOf(before), order.indexOf(after)];
  return from >= 0 && to > from ? [`${label} ${before} -> ${after}`] : [];
}

/** Lists one line per report and per changed check, safe to print on a terminal. */
export function listDifferences(before: ComparedReport, after: ComparedReport): readonly string[] {
  const [previousById, currentById] = [indexById(before.results), indexById(after.results)];
  const ids = [...new Set([...previousById.keys(), ...currentById.keys()])];
  const changes = ids.flatMap((id) => {
    const [previous, current] = [previousById.get(id), currentById.get(id)];
    if (previous?.status === current?.status && previous?.outcome === current?.outcome) return [];
    const cell = current ?? previous;
    const label = cell === undefined ? id : toCheckLabel(cell);
    return [`  ${label}: ${toCellText(previous)} -> ${toCellText(current)}`];
  });
  const describeReport = (report: ComparedReport) =>
    `${report.origin} ${report.scannedAt} by ${report.checksVersion}: ${report.grade} ${report.score}`;
  return [
    describeReport(before),
    describeReport(after),
    changes.length === 0 ? 'No check moved.' : `${changes.length} moved:`,
    ...changes,
    ...listTextChanges(before.indexed, after.indexed, toListingText),
    ...listTextChanges(before.otherWays, after.otherWays, toWayText),
    // Report files are untrusted, so terminal control characters are removed.
  ].map((line) => `${line.startsWith('  ') ? '  ' : ''}${cleanText(line, MAX_LINE_CHARS)}`);
}

type NamedText = readonly [name: string, text: string];

/** Compares the rows of a member by their names. Returns nothing if a report lacks the member. */
function listTextChanges<Row>(
  before: readonly Row[] | undefined,
  after: readonly Row[] | undefined,
  toText: (row: Row) => NamedText,
): readonly string[] {
  if (before === undefined || after === undefined) return [];
  const [earlier, later] = [new Map(before.map(toText)), new Map(after.map(toText))];
  return [...new Set([...earlier.keys(), ...later.keys()])].flatMap((name) => {
    const [from, to] = [earlier.get(name) ?? 'not there', later.get(name) ?? 'not there'];
    return from === to ? [] : [`  ${name}: ${from} -> ${to}`];
  });
}

function toWayText({ method, path, protocol, methods }: Static<typeof wayCell>): NamedText {
  const text = methods.length === 0 ? 'sold' : `sold by ${methods.join(', ')}`;
  return [`${method} ${path} over ${protocol}`, text];
}

function toListingText(row: Static<typeof listingCell>): NamedText {
  const { index, method, resource, state, differences } = row;
  const fields = differences.map(({ field, indexed }) => `${field} ${indexed}`).join(', ');
  const text = fields === '' ? state : `${state} (${fields})`;
  return [`${index} ${method} ${resource}`, text.replaceAll('_', ' ')];
}

function toCellText(cell: Static<typeof resultCell> | undefined): string {
  return cell === undefined ? 'not there' : `${cell.status} (${cell.outcome})`;
}
