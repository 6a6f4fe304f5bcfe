import { execFile } from 'node:child_process';
import { chmod, cp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { folderPerTest } from '../fixtures/temp-folder.ts';

const SCRIPT = fileURLToPath(new URL('../../.ci/run', import.meta.url));

const checkout = folderPerTest();
beforeEach(async () => {
  await cp(SCRIPT, checkout.at('.ci/run'), { recursive: true });
});

type Machine = {
  /** Exit codes of the three npm commands. */
  ci?: number;
  lint?: number;
  test?: number;
  /** Output of `npm test`. */
  testOutput?: string;
  /** Signal by which `npm test` dies. */
  testSignal?: string;
  /** Output of `npm run test:long`. */
  longTestOutput?: string;
  goVersion?: string;
};

/** Runs the script with a stand-in for each tool. `machine` says how the stand-ins end. */
async function run(machine: Machine) {
  const {
    ci = 0,
    lint = 0,
    test = 0,
    testOutput = '',
    testSignal,
    goVersion = 'go1.24.1',
  } = machine;
  const { longTestOutput = '0 passed, 0 failed' } = machine;
  const npm = `case "$*" in
    ci) exit ${ci};;
    'run lint') exit ${lint};;
    'run test:long') echo '${longTestOutput}';;
    test*) printf '%s\\n' '${testOutput}'; ${testSignal ? `kill -${testSignal} $$` : ':'}; exit ${test};;
  esac`;
  const tools = {
    npm,
    go: `echo ${goVersion}`,
    python3: 'exit 0',
    node: 'exit 0',
    chromium: 'exit 0',
    id: 'echo 0',
  };
  for (const [name, script] of Object.entries({ ...tools, 'apt-get': 'exit 100' })) {
    await chmod(await checkout.write(`bin/${name}`, `#!/bin/sh\n${script}\n`), 0o755);
  }
  // All programs of a machine share the kernel's setting for core files, so the script gets a file in its place.
  const pattern = await checkout.write('core_pattern', 'core\n');
  const env = { PATH: `${checkout.at('bin')}:/usr/bin:/bin`, CORE_PATTERN_FILE: pattern };
  return new Promise<{ code: number; lastLine: string | undefined; output: string }>((resolve) => {
    execFile(checkout.at('.ci/run'), { env, cwd: tmpdir() }, (error, output) => {
      const lastLine = output.trimEnd().split('\n').at(-1);
      resolve({ code: Number(error?.code ?? 0), lastLine, output });
    });
  });
}

test('a run without a failure prints the count of the tests, exits 0, and installs nothing', async () => {
  const { code, lastLine, output } = await run({ testOutput: '12 passed, 0 failed, 3 skipped' });
  expect(lastLine).toBe('12 passed, 0 failed, 3 skipped');
  expect(code).toBe(0);
  expect(output).not.toContain('apt-get');
});

const PASSED = '12 passed, 0 failed';

test.each([
  [
    'the long tests, which are counted too',
    { testOutput: `${PASSED}, 3 skipped`, longTestOutput: '7 passed, 1 failed, 2 skipped' },
    '19 passed, 1 failed, 5 skipped',
  ],
  ['a failed lint', { lint: 1, testOutput: PASSED }, '12 passed, 1 failed'],
  [
    'failed tests and a failed lint',
    { lint: 1, test: 1, testOutput: '10 passed, 2 failed' },
    '10 passed, 3 failed',
  ],
  ['tests without a count', { test: 137, testOutput: 'Killed' }, '0 passed, 1 failed'],
  [
    'tests that count no failure but exit with 1',
    { test: 1, testOutput: '0 passed, 0 failed' },
    '0 passed, 1 failed',
  ],
  ['npm ci that fails twice', { ci: 1 }, '0 passed, 1 failed'],
])('%s: a run with %j ends with "%s" and exits 1', async (_case, machine, count) => {
  const { code, lastLine } = await run(machine);
  expect({ code, lastLine }).toEqual({ code: 1, lastLine: count });
});

test('when the package mirror is down, the run goes on, and names what is missing', async () => {
  const { code, lastLine, output } = await run({
    goVersion: 'go1.19.8',
    testOutput: '12 passed, 0 failed',
  });
  expect(output).toContain('going on without golang-go');
  expect(output).toContain('no Go 1.22 or newer here');
  expect(lastLine).toBe('12 passed, 0 failed');
  expect(code).toBe(0);
});

test('tests that die by a signal are a failure, and their output is kept', async () => {
  const { code, lastLine, output } = await run({
    testOutput: 'heap out of memory',
    testSignal: 'ABRT',
  });
  expect(lastLine).toBe('0 passed, 1 failed');
  expect(code).toBe(1);
  expect(output).toContain('The tests died by signal 6.');
  expect(await readFile(checkout.at('core_pattern'), 'utf8')).toBe('core\n');
  expect(await readFile(checkout.at('.cache/crashes/output.log'), 'utf8')).toContain('heap out');
});
