import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parseArguments } from './arguments.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

/** Limit for seven cases, each in a process of its own, on a machine that may be busy. */
const TIMEOUT_MS = 180_000;

test(
  'a quick run of seven cases prints its tables and writes its numbers',
  async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
    const file = join(folder.path, 'bench.json');
    const cases = ['startup', 'memory', 'scans', 'distance', 'directory', 'ledger', 'storage'];
    const { stdout } = await run(process.execPath, [MAIN, '--quick', '--json', file, ...cases]);
    expect(stdout).toContain('the numbers mean nothing');
    expect(stdout).toMatch(/ledger steps +[\d,.]+ +commits\/s/);
    const { isQuick, results } = JSON.parse(await readFile(file, 'utf8'));
    expect(isQuick).toBe(true);
    expect(Object.keys(results)).toEqual(cases);
    for (const { what, value, unit } of Object.values(results).flat() as never[]) {
      expect({ what, unit, isPositive: value > 0 }).toMatchObject({ isPositive: true });
    }
    // Few rows fill their pages worse than many, so a quick run only errs upwards.
    expect(results.storage.at(-1)).toMatchObject({ what: 'a paid scan, for a day or two' });
    expect(results.storage.at(-1).value).toBeLessThanOrEqual(12 * 1024);
  },
  TIMEOUT_MS,
);

test.each([
  [['--hosts', '1e6'], '--hosts "1e6"'],
  [['--hosts', '0'], '--hosts "0"'],
  [['--hosts', '-5'], '--hosts'],
  [['--hosts', '1,000'], '--hosts "1,000"'],
  [['--hosts', '5000001'], 'from 1 to 5,000,000'],
  [['--hosts'], '--hosts'],
  [['--fast'], '--fast'],
  [['--store', 'mysql'], 'no store "mysql"'],
  [['--json', tmpdir()], 'is a folder'],
  [['--json', '/nowhere/at/all.json'], 'not there'],
])('%j is refused before anything is measured', (args, said) => {
  expect(() => parseArguments(args)).toThrow(expect.objectContaining({ name: 'BadArguments' }));
  expect(() => parseArguments(args)).toThrow(said);
  expect(() => parseArguments(args)).toThrow('usage: npm run bench');
});

test('an unknown case is refused, and the message lists the known ones', async () => {
  const failed = await run(process.execPath, [MAIN, 'speed']).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('startup|memory|scans|distance'),
  });
});
