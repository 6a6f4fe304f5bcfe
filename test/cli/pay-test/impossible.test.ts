import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { TestFacilitator } from '../../../src/cli/pay-test/facilitator.ts';
import { TRIAL_IDS } from '../../../src/cli/pay-test/result.ts';
import { resolveTarget, SellerClient } from '../../../src/cli/pay-test/seller-client.ts';
import { isListening } from '../../../src/cli/pay-test/seller-process.ts';
import { OurFault } from '../../../src/scanner/guard/failures.ts';
import { runCli } from '../run-cli.ts';
import { listTrialIds, payTest, placeSeller, SHORT_WAITS } from './run.ts';

const TIMEOUT_MS = 120_000;
const runFile = promisify(execFile);

test('the run fails with the words of a seller that ends before it listens', {
  timeout: TIMEOUT_MS,
}, async () => {
  await expect(payTest({ start: 'echo "Error: no database" >&2; exit 3' })).rejects.toThrow(
    /ended before it listened: Error: no database/,
  );
});

test('the run fails if the seller never answers, and ends every process of the seller', {
  timeout: TIMEOUT_MS,
}, async () => {
  const timing = { ...SHORT_WAITS, answerMs: 1_000 };
  const { target, start } = await placeSeller({ hangs: 'always' });
  await expect(payTest({ target, start, timing })).rejects.toThrow('does not answer GET /weather');
  const resolved = await resolveTarget(target);
  await expect.poll(() => isListening(resolved)).toBe(false);
});

test('a request that we cannot send is not told as the silence of the seller', async () => {
  const client = new SellerClient(await resolveTarget('http://127.0.0.1:1'), TIMEOUT_MS);
  try {
    await expect(client.send({ method: 'GET', path: '/\u5929' })).rejects.toThrow(OurFault);
    expect(await client.send({ method: 'GET', path: '/' })).toMatchObject({ why: 'broken' });
  } finally {
    await client.close();
  }
});

test('the run fails if the seller asks another facilitator', { timeout: TIMEOUT_MS }, async () => {
  const other = new TestFacilitator({
    host: '127.0.0.1',
    port: 0,
    networks: [],
    silenceMs: SHORT_WAITS.silenceMs,
  });
  await other.listen();
  const { target, start } = await placeSeller();
  try {
    await expect(
      payTest({
        target,
        start: `FACILITATOR_URL=${other.url} ${start}`,
        variables: ['NOBODY_READS_THIS'],
      }),
    ).rejects.toThrow('delivers without asking this facilitator');
  } finally {
    await other.close();
  }
});

describe.each([
  [{ hangs: 'paid' }, 'does not answer a good payment', []],
  [{ flaw: 'dies' }, 'ends the process of the seller', []],
  [{ flaw: 'ignores' }, 'neither delivers a good payment nor asks', ['T11', 'T12']],
] as const)('a seller %j', (seller, words, unpaidTrials) => {
  test('fails T1, and no other trial pays the seller', { timeout: TIMEOUT_MS }, async () => {
    const report = await payTest({ seller });
    expect(listTrialIds(report, 'fail')).toEqual(['T1']);
    expect(listTrialIds(report, 'pass', 'warn')).toEqual(unpaidTrials);
    const otherTrials = report.trials.filter(({ id }) => id !== 'T1');
    expect(otherTrials.map(({ id }) => id)).toEqual(TRIAL_IDS.slice(1));
    const skippedTrials = otherTrials.filter(({ status }) => status === 'not_run');
    expect(skippedTrials.every(({ evidence }) => evidence.includes(words))).toBe(true);
    expect(report.summary).toMatchObject({ delivers: false, gifts: 0 });
  });
});

test('the command reports a failed T1 and the trials that it prevents', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { target, start } = await placeSeller({ flaw: 'ignores' });
  const flags = ['--route', 'GET /weather', '--fail-on', 'warn'];
  const result = await runCli(['pay-test', target, '--start', start, ...flags]);
  expect(result.code).toBe(1);
  expect(result.stderr).toMatch(/--fail-on warn: T1\n$/);
  expect(result.stdout).toContain('FAIL    T1 pays-and-delivers');
  expect(result.stdout).toContain('NOT RUN T7 replay');
});

test('an aborted run ends every process of the seller', { timeout: TIMEOUT_MS }, async () => {
  const { target, start } = await placeSeller();
  const giveUp = new AbortController();
  const run = payTest({
    target,
    start: `(${start}) & wait`,
    signal: giveUp.signal,
    say: () => giveUp.abort(new Error('given up')),
  });
  await expect(run).rejects.toThrow('given up');
  const resolved = await resolveTarget(target);
  await expect.poll(() => isListening(resolved)).toBe(false);
});

// A run in a process of its own shows what it leaves open, because that keeps the process alive.
test.each([
  ['before its start', `giveUp.abort(new Error('given up'));`],
  ['while it waits for the seller', ''],
])(
  'a run that is aborted %s leaves nothing open',
  { timeout: TIMEOUT_MS },
  async (_when, abort) => {
    const script = `
    import { payTest, SHORT_WAITS } from './test/cli/pay-test/run.ts';
    const giveUp = new AbortController();
    ${abort}
    const timing = { ...SHORT_WAITS, startMs: 3_600_000 };
    const say = () => giveUp.abort(new Error('given up'));
    await payTest({ start: null, timing, say, signal: giveUp.signal }).catch(({ message }) => console.log(message));
  `;
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = await runFile(process.execPath, args, { timeout: TIMEOUT_MS / 2 });
    expect(stdout).toBe('given up\n');
  },
);

test('the command exits 2 for an address of another machine', { timeout: TIMEOUT_MS }, async () => {
  const args = ['src/cli/main.ts', 'pay-test', 'http://93.184.216.34', '--start', 'exit 1'];
  const failure = await runFile(process.execPath, args).catch(
    (error: { code: number; stderr: string }) => error,
  );
  expect(failure).toMatchObject({ code: 2 });
  expect(failure.stderr).toContain('only loopback and private addresses');
});

test('the run prints the address of the facilitator on a line of its own', {
  timeout: TIMEOUT_MS,
}, async () => {
  const lines: string[] = [];
  const giveUp = new AbortController();
  const run = payTest({
    start: null,
    signal: giveUp.signal,
    say: (line) => {
      lines.push(line);
      if (line.startsWith('http')) giveUp.abort(new Error('given up'));
    },
  });
  await expect(run).rejects.toThrow('given up');
  expect(lines.at(-1)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});
