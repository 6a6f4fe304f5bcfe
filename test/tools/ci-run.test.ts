import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../.ci/run', import.meta.url));

let checkout: string;
beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'ci-run-'));
  await mkdir(join(checkout, 'bin'));
  await cp(SCRIPT, join(checkout, '.ci/run'), { recursive: true });
});
afterEach(() => rm(checkout, { recursive: true, force: true }));

type Machine = {
  /** Exit codes of the three npm commands. */
  ci?: number;
  lint?: number;
  test?: number;
  /** Output of `npm test`. */
  says?: string;
  /** Signal by which `npm test` dies. */
  dies?: string;
  /** Output of `npm run test:long`. */
  saysLong?: string;
  go?: string;
};

/** Runs the script with a stand-in for each tool; each ends as the test sets. */
async function run(machine: Machine) {
  const { ci = 0, lint = 0, test = 0, says = '', dies, go = 'go1.24.1' } = machine;
  const { saysLong = '0 passed, 0 failed' } = machine;
  const npm = `case "$*" in
    ci) exit ${ci};;
    'run lint') exit ${lint};;
    'run test:long') echo '${saysLong}';;
    test*) printf '%s\\n' '${says}'; ${dies ? `kill -${dies} $$` : ':'}; exit ${test};;
  esac`;
  const tools = {
    npm,
    go: `echo ${go}`,
    python3: 'exit 0',
    node: 'exit 0',
    chromium: 'exit 0',
    id: 'echo 0',
  };
  for (const [name, script] of Object.entries({ ...tools, 'apt-get': 'exit 100' })) {
    await writeFile(join(checkout, 'bin', name), `#!/bin/sh\n${script}\n`);
    await chmod(join(checkout, 'bin', name), 0o755);
  }
  // Every program shares the kernel's setting for core files.
  const pattern = join(checkout, 'core_pattern');
  await writeFile(pattern, 'core\n');
  const env = { PATH: `${join(checkout, 'bin')}:/usr/bin:/bin`, CORE_PATTERN_FILE: pattern };
  return new Promise<{ code: number; last: string | undefined; output: string }>((resolve) => {
    execFile(join(checkout, '.ci/run'), { env, cwd: tmpdir() }, (error, output) => {
      const last = output.trimEnd().split('\n').at(-1);
      resolve({ code: Number(error?.code ?? 0), last, output });
    });
  });
}

test('a good run prints the count of the tests, exits 0, and installs nothing', async () => {
  const { code, last, output } = await run({ says: '12 passed, 0 failed, 3 skipped' });
  expect(last).toBe('12 passed, 0 failed, 3 skipped');
  expect(code).toBe(0);
  expect(output).not.toContain('apt-get');
});

test('the long tests run and are counted, too', async () => {
  const says = '12 passed, 0 failed, 3 skipped';
  const { code, last } = await run({ says, saysLong: '7 passed, 1 failed, 2 skipped' });
  expect(last).toBe('19 passed, 1 failed, 5 skipped');
  expect(code).toBe(1);
});

test('a failed lint counts as one failure', async () => {
  const { code, last } = await run({ lint: 1, says: '12 passed, 0 failed' });
  expect(last).toBe('12 passed, 1 failed');
  expect(code).toBe(1);
});

test('failed tests are counted, and a failed lint is added', async () => {
  const { code, last } = await run({ lint: 1, test: 1, says: '10 passed, 2 failed' });
  expect(last).toBe('10 passed, 3 failed');
  expect(code).toBe(1);
});

test.each([
  ['tests that end without a count', { test: 137, says: 'Killed' }],
  ['tests that count no failure, yet exit otherwise', { test: 1, says: '0 passed, 0 failed' }],
  ['npm ci that fails twice', { ci: 1 }],
])('%s is a failure', async (_what, machine) => {
  const { code, last } = await run(machine);
  expect(last).toBe('0 passed, 1 failed');
  expect(code).toBe(1);
});

test('a mirror that is down does not end the run; the run names what is missing', async () => {
  const { code, last, output } = await run({ go: 'go1.19.8', says: '12 passed, 0 failed' });
  expect(output).toContain('going on without golang-go');
  expect(output).toContain('no Go 1.22 or newer here');
  expect(last).toBe('12 passed, 0 failed');
  expect(code).toBe(0);
});

test('tests that die by a signal are a failure, and their output is kept', async () => {
  const { code, last, output } = await run({ says: 'heap out of memory', dies: 'ABRT' });
  expect(last).toBe('0 passed, 1 failed');
  expect(code).toBe(1);
  expect(output).toContain('The tests died by signal 6.');
  expect(await readFile(join(checkout, 'core_pattern'), 'utf8')).toBe('core\n');
  expect(await readFile(join(checkout, '.cache/crashes/output.log'), 'utf8')).toContain('heap out');
});
