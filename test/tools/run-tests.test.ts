import { execFile } from 'node:child_process';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { folderPerTest } from '../fixtures/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PASSING_TEST = `test('passes', () => {});`;

const project = folderPerTest();
beforeEach(async () => {
  await symlink(join(ROOT, 'node_modules'), project.at('node_modules'));
});

/** Runs the tool on these test files, with no terminal and nothing on standard input. */
async function run(files: Record<string, string>, ...args: string[]) {
  for (const [name, tests] of Object.entries(files)) {
    const imports = `import { beforeAll, describe, test, expect } from 'vitest';\n`;
    await project.write(`${name}.test.ts`, imports + tests);
  }
  return new Promise<{ code: number; lines: string[] }>((resolve) => {
    const command = [join(ROOT, 'tools/run-tests.ts'), '--root', project.path, ...args];
    const env = { ...process.env, CI: 'true', NO_COLOR: '1' };
    const child = execFile(
      process.execPath,
      command,
      { cwd: project.path, env },
      (error, stdout) => {
        resolve({ code: Number(error?.code ?? 0), lines: stdout.trimEnd().split('\n') });
      },
    );
    child.stdin?.end();
  });
}

test('a run without a failure prints its counts in the last line, and exits 0', async () => {
  const { code, lines } = await run({
    one: `${PASSING_TEST} test('too', () => {});`,
    two: PASSING_TEST,
  });
  expect(lines.at(-1)).toBe('3 passed, 0 failed');
  expect(code).toBe(0);
});

test('a failed test fails the run', async () => {
  const { code, lines } = await run({
    one: `${PASSING_TEST} test('no', () => expect(1).toBe(2));`,
  });
  expect(lines.at(-1)).toBe('1 passed, 1 failed');
  expect(code).toBe(1);
});

test.each([
  ['a file that cannot be loaded', `throw new Error('at load');`],
  [
    'a hook that throws',
    `describe('s', () => { beforeAll(() => { throw new Error('hook'); }); });`,
  ],
  ['a rejection that nothing handles', `${PASSING_TEST} void Promise.reject(new Error('stray'));`],
])('%s fails the run, though no test failed', async (_case, tests) => {
  const { code, lines } = await run({ one: PASSING_TEST, two: tests });
  expect(lines.at(-1)).toMatch(/^[12] passed, [1-9]\d* failed/);
  expect(code).toBe(1);
});

test('a skipped suite and a skipped test print their reasons before the last line', async () => {
  const skipped = `describe('on a chain', { skip: true, meta: { lacks: 'no anvil here' } }, () => {
    test('a', () => {});
    describe('deeper', () => { test('b', () => {}); });
  });
  test('c', ({ skip }) => skip('not today'));`;
  const { code, lines } = await run({ one: PASSING_TEST, two: skipped });
  expect(lines.slice(-3)).toEqual([
    'skipped two.test.ts > on a chain (2 tests): no anvil here',
    'skipped two.test.ts > c: not today',
    '1 passed, 0 failed, 3 skipped',
  ]);
  expect(code).toBe(0);
});

test('filters choose test files, and a run without tests fails', async () => {
  const files = { one: PASSING_TEST, two: PASSING_TEST };
  expect(await run(files, 'two')).toMatchObject({ code: 0 });
  const emptyRun = await run(files, 'three');
  expect(emptyRun.lines.at(-1)).toBe('0 passed, 0 failed');
  expect(emptyRun.code).toBe(1);
});

test('a run that dies by a signal fails, and keeps its standard error', async () => {
  const dyingTest = `${PASSING_TEST} process.ppid && process.kill(process.ppid, 'SIGKILL');`;
  const { code, lines } = await run({ one: dyingTest });
  expect(lines.at(-1)).toBe('0 passed, 1 failed');
  const [, file = ''] =
    /died by SIGKILL; their standard error is in (.+)$/.exec(lines.at(-2) ?? '') ?? [];
  await rm(file);
  expect(code).toBe(1);
});
