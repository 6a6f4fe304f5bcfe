/**
 * `diff A.json B.json`: which checks moved between two JSON reports, by status and outcome, and with
 * `--fail-on-regression` whether anything fell.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { cleanText } from '../parse/text/text.ts';
import { type Streams, write } from './streams.ts';
import { UsageError } from './usage-error.ts';

const MAX_LINE_CHARS = 500;

type Cell = {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly outcome: string;
  readonly basis?: string;
};
type Report = {
  readonly origin: string;
  readonly grade: string;
  readonly score: number;
  readonly checksVersion: string;
  readonly scannedAt: string;
  readonly payableBy?: string | null;
  readonly results: readonly Cell[];
};

const USAGE =
  'usage: npm run diff -- A.json B.json [--fail-on-regression] (reports of scan --format json)';

/** Best first; what is in none of them cannot have fallen. */
const GRADES = ['A', 'B', 'C', 'D', 'F'];
const STATUSES = ['pass', 'warn', 'fail'];
const PAYABLE_BY = ['default', 'settings', 'nobody'];

const reportSchema = Type.Object({
  origin: Type.String(),
  grade: Type.String(),
  score: Type.Integer(),
  checksVersion: Type.String(),
  scannedAt: Type.String(),
  payableBy: Type.Optional(Type.Union([Type.String(), Type.Null()])),
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

/**
 * Throws UsageError where a file is no report. Exit code 0, for a difference is no failure; 1 where
 * something fell and `--fail-on-regression` was given.
 */
export async function diffCommand(args: readonly string[], { out, err }: Streams): Promise<0 | 1> {
  const { files, failOnRegression } = parse(args);
  const [before, after] = await Promise.all([readReport(files[0]), readReport(files[1])]);
  await write(out, `${describe(before, after).join('\n')}\n`);
  if (!failOnRegression) return 0;
  const fallen = regressionsOf(before, after);
  if (fallen.length > 0) await write(err, `--fail-on-regression: ${fallen.join(', ')}\n`);
  return fallen.length === 0 ? 0 : 1;
}

function parse(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { 'fail-on-regression': { type: 'boolean' } },
    });
    const [first, second, ...more] = positionals;
    if (first !== undefined && second !== undefined && more.length === 0) {
      const files = [first, second] as const;
      return { files, failOnRegression: values['fail-on-regression'] ?? false };
    }
  } catch {
    // An unknown flag: the usage says which there are.
  }
  throw new UsageError(USAGE);
}

/** What fell: the grade, who can pay, the status of a check. Nothing falls by not being observed. */
function regressionsOf(before: Report, after: Report): readonly string[] {
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

function describe(before: Report, after: Report): readonly string[] {
  const ids = [...new Set([...before.results, ...after.results].map(({ id }) => id))];
  const moved = ids.flatMap((id) => {
    const was = before.results.find((cell) => cell.id === id);
    const is = after.results.find((cell) => cell.id === id);
    if (was?.status === is?.status && was?.outcome === is?.outcome) return [];
    return [`  ${id} ${(is ?? was)?.title ?? ''}: ${cellText(was)} -> ${cellText(is)}`];
  });
  const head = (report: Report) =>
    `${report.origin} ${report.scannedAt} by ${report.checksVersion}: ${report.grade} ${report.score}`;
  return [
    head(before),
    head(after),
    moved.length === 0 ? 'No check moved.' : `${moved.length} moved:`,
    ...moved,
    // Report files come from anywhere: nothing in them may steer a terminal.
  ].map((line) => `${line.startsWith('  ') ? '  ' : ''}${cleanText(line, MAX_LINE_CHARS)}`);
}

function cellText(cell: Cell | undefined): string {
  return cell === undefined ? 'not there' : `${cell.status} (${cell.outcome})`;
}

async function readReport(file: string): Promise<Report> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file}: cannot be read as JSON (${reason})`);
  }
  const validate = new Ajv().compile<Report>(reportSchema);
  if (validate(value)) return value;
  throw new UsageError(`${file}: no scan report; make one with scan --format json --output FILE`);
}
