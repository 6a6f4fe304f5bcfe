import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isListening } from '../../src/pay-test/seller-process.ts';
import { resolveTarget } from '../../src/pay-test/target.ts';
import { craftedSeller } from '../fixtures/sellers/crafted-seller.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { idsWith, payTest, SHORT } from './run.ts';

const TIMEOUT_MS = 120_000;
const run = promisify(execFile);

test('a seller that ends before it listens is told with its words', {
  timeout: TIMEOUT_MS,
}, async () => {
  await expect(payTest({ start: 'echo "Error: no database" >&2; exit 3' })).rejects.toThrow(
    /ended before it listened: Error: no database/,
  );
});

test('a seller that never answers is told, and left no process', {
  timeout: TIMEOUT_MS,
}, async () => {
  const timing = { ...SHORT, answerMs: 1_000 };
  const port = await freePort();
  const target = `http://127.0.0.1:${port}`;
  const start = craftedSeller({ port, hangs: 'always' });
  await expect(payTest({ target, start, timing })).rejects.toThrow('does not answer GET /weather');
  const own = await resolveTarget(target);
  await expect.poll(() => isListening(own)).toBe(false);
});

test('a seller that hangs once it is paid fails T1, and nothing else is judged', {
  timeout: TIMEOUT_MS,
}, async () => {
  const timing = { ...SHORT, answerMs: 1_500 };
  const tested = await payTest({ timing, seller: { hangs: 'paid' }, failingRoute: null });
  expect(idsWith(tested, 'fail')).toEqual(['T1']);
  expect(idsWith(tested, 'pass', 'warn')).toEqual([]);
  expect(tested.impossible).toContain('does not answer a good payment');
});

test('a seller that delivers and never asks is one finding', { timeout: TIMEOUT_MS }, async () => {
  await expect(
    payTest({ variables: ['NOBODY_READS_THIS'], seller: { flaw: 'T4' } }),
  ).rejects.toThrow('delivers without asking this facilitator');
});

test('a seller that asks another facilitator fails T1', { timeout: TIMEOUT_MS }, async () => {
  const tested = await payTest({ variables: ['NOBODY_READS_THIS'], failingRoute: null });
  expect(idsWith(tested, 'fail')).toEqual(['T1']);
  expect(tested.impossible).toContain('neither delivers a good payment nor asks');
});

test('a run that is given up leaves no process', { timeout: TIMEOUT_MS }, async () => {
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

test('the command exits 2 for an address of others', { timeout: TIMEOUT_MS }, async () => {
  const args = ['src/cli/main.ts', 'pay-test', 'http://93.184.216.34', '--start', 'exit 1'];
  const failed = await run(process.execPath, args).catch(
    (error: { code: number; stderr: string }) => error,
  );
  expect(failed).toMatchObject({ code: 2 });
  expect(failed.stderr).toContain('loopback and private addresses alone');
});
