/** `diff A.json B.json`: which checks moved between two JSON reports, by status and outcome. */
import { readFile } from 'node:fs/promises';
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
};
type Report = {
  readonly origin: string;
  readonly grade: string;
  readonly score: number;
  readonly checksVersion: string;
  readonly scannedAt: string;
  readonly results: readonly Cell[];
};

const reportSchema = Type.Object({
  origin: Type.String(),
  grade: Type.String(),
  score: Type.Integer(),
  checksVersion: Type.String(),
  scannedAt: Type.String(),
  results: Type.Array(
    Type.Object({
      id: Type.String(),
      title: Type.String(),
      status: Type.String(),
      outcome: Type.String(),
    }),
  ),
});

/** Throws UsageError where a file is no report. Exit code 0: a difference is no failure. */
export async function diffCommand(args: readonly string[], { out }: Streams): Promise<0> {
  const [first, second, ...more] = args;
  if (first === undefined || second === undefined || more.length > 0) {
    throw new UsageError('usage: npm run diff -- A.json B.json (reports of scan --format json)');
  }
  const [before, after] = await Promise.all([readReport(first), readReport(second)]);
  await write(out, `${describe(before, after).join('\n')}\n`);
  return 0;
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
