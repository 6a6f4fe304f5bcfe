/** `diff A.json B.json`: lists the checks whose status or outcome differs between two JSON reports. */
import {
  type ComparedReport,
  comparedReportSchema,
  findRegressions,
  listDifferences,
} from '../scanner/report/compare-reports.ts';
import { defuseCommands } from './formatters/escapes.ts';
import { readReport, type Streams, write } from './io.ts';
import { readFlags, UsageError, usageLine } from './usage.ts';

/**
 * Throws UsageError if a file is not a report. Returns exit code 1 only with `--fail-on-regression`, if the
 * grade, `payableBy` or a check got worse.
 */
export async function diffCommand(args: readonly string[], { out, err }: Streams): Promise<0 | 1> {
  const { files, failOnRegression } = parse(args);
  const readOne = (file: string) => readReport<ComparedReport>(file, comparedReportSchema);
  const [before, after] = await Promise.all([readOne(files[0]), readOne(files[1])]);
  await write(out, defuseCommands(`${listDifferences(before, after).join('\n')}\n`));
  if (!failOnRegression) return 0;
  const regressions = findRegressions(before, after);
  if (regressions.length > 0) await write(err, `--fail-on-regression: ${regressions.join(', ')}\n`);
  return regressions.length === 0 ? 0 : 1;
}

function parse(args: readonly string[]) {
  const { values, positionals } = readFlags('diff', args, {
    'fail-on-regression': { type: 'boolean' },
  });
  const [first, second, ...more] = positionals;
  if (first === undefined || second === undefined || more.length > 0) {
    throw new UsageError(usageLine('diff'));
  }
  const files = [first, second] as const;
  return { files, failOnRegression: values['fail-on-regression'] ?? false };
}
