import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { TRIAL_IDS } from '../../src/pay-test/result.ts';
import { isListening } from '../../src/pay-test/seller-process.ts';
import { resolveTarget } from '../../src/pay-test/target.ts';
import { runCli } from '../cli/run-cli.ts';
import { craftedSeller } from '../fixtures/sellers/crafted-seller.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { idsWith, payTest, SHORT_WAITS } from './run.ts';

const TIMEOUT_MS = 120_000;
const run = promisify(execFile);

test('the report quotes a seller that ends before it listens', {
  timeout: TIMEOUT_MS,
}, async () => {
  await expect(payTest({ start: 'echo "Error: no database" >&2; exit 3' })).rejects.toThrow(
    /ended before it listened: Error: no database/,
  );
});

test('the report names a seller that never answers, and no process of the seller is left', {
  timeout: TIMEOUT_MS,
}, async () => {
  const timing = { ...SHORT_WAITS, answerMs: 1_000 };
  const port = await freePort();
  const target = `http://127.0.0.1:${port}`;
  const start = craftedSeller({ port, hangs: 'always' });
  await expect(payTest({ target, start, timing })).rejects.toThrow('does not answer GET /weather');
  const own = await resolveTarget(target);
  await expect.poll(() => isListening(own)).toBe(false);
});

test('the report has one finding for a seller that delivers and never asks for payment', {
  timeout: TIMEOUT_MS,
}, async () => {
  await expect(
    payTest({ variables: ['NOBODY_READS_THIS'], seller: { flaw: 'T4' } }),
  ).rejects.toThrow('delivers without asking this facilitator');
});

describe.each([
  [{ hangs: 'paid' }, 'does not answer a good payment'],
  [{ flaw: 'dies' }, 'ends the process of the seller'],
  [{ flaw: 'ignores' }, 'neither delivers a good payment nor asks'],
] as const)('a seller %j', (seller, words) => {
  test('fails T1, and no other trial pays the seller', { timeout: TIMEOUT_MS }, async () => {
    const timing = 'hangs' in seller ? { ...SHORT_WAITS, answerMs: 3_000 } : SHORT_WAITS;
    const tested = await payTest({ timing, seller });
    expect(idsWith(tested, 'fail')).toEqual(['T1']);
    expect(idsWith(tested, 'pass', 'warn')).toEqual([]);
    const others = tested.trials.filter(({ id }) => id !== 'T1');
    expect(others.map(({ id }) => id)).toEqual(TRIAL_IDS.slice(1));
    expect(others.every(({ evidence }) => evidence.includes(words))).toBe(true);
    expect(tested.summary).toMatchObject({ delivers: false, gifts: 0 });
  });
});

test.each([
  [['--fail-on', 'fail'], 1],
  [['--fail-on', 'warn'], 1],
  [[], 0],
])(
  'makes the command exit for a failed T1 with %j: %d',
  { timeout: TIMEOUT_MS },
  async (flags, code) => {
    const port = await freePort();
    const start = craftedSeller({ port, flaw: 'ignores' });
    const target = `http://127.0.0.1:${port}`;
    const route = ['--route', 'GET /weather'];
    const ran = await runCli(['pay-test', target, '--start', start, ...route, ...flags]);
    expect(ran.code).toBe(code);
    expect(ran.stdout).toContain('FAIL    T1 pays-and-delivers');
    expect(ran.stdout).toContain('NOT RUN T7 replay');
  },
);

test('an aborted run leaves no process', { timeout: TIMEOUT_MS }, async () => {
  const port = await freePort();
  const target = `http://127.0.0.1:${port}`;
  const giving = new AbortController();
  const tested = payTest({
    target,
    start: `(${craftedSeller({ port })}) & wait`,
    signal: giving.signal,
    say: () => giving.abort(new Error('given up')),
  });
  await expect(tested).rejects.toThrow('given up');
  const own = await resolveTarget(target);
  await expect.poll(() => isListening(own)).toBe(false);
});

test('the command exits 2 for an address of another machine', { timeout: TIMEOUT_MS }, async () => {
  const args = ['src/cli/main.ts', 'pay-test', 'http://93.184.216.34', '--start', 'exit 1'];
  const failed = await run(process.execPath, args).catch(
    (error: { code: number; stderr: string }) => error,
  );
  expect(failed).toMatchObject({ code: 2 });
  expect(failed.stderr).toContain('only loopback and private addresses');
});

test('the address of the facilitator is on a line of its own', {
  timeout: TIMEOUT_MS,
}, async () => {
  const lines: string[] = [];
  const giving = new AbortController();
  const tested = payTest({
    start: null,
    signal: giving.signal,
    say: (line) => {
      lines.push(line);
      if (line.startsWith('http')) giving.abort(new Error('given up'));
    },
  });
  await expect(tested).rejects.toThrow('given up');
  expect(lines.at(-1)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});
