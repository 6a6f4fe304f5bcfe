/** Faults of real sellers that a pay-test once called sound. Each has a seller in `field-seller.mjs`. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { TRIAL_IDS } from '../../../src/cli/pay-test/result.ts';
import { freePort } from '../../fixtures/service/free-port.ts';
import { runCli } from '../run-cli.ts';
import { listTrialIds, payTest } from './run.ts';

const TIMEOUT_MS = 120_000;
const SELLER = fileURLToPath(new URL('../../fixtures/sellers/field-seller.mjs', import.meta.url));

async function startKind(kind: string) {
  const port = await freePort();
  const target = `http://127.0.0.1:${port}`;
  const start = `PORT=${port} KIND=${kind} exec ${JSON.stringify(process.execPath)} ${JSON.stringify(SELLER)}`;
  return { target, start };
}

async function tryKind(kind: string, path = '/report') {
  const seller = await startKind(kind);
  const routes = [{ method: 'GET', path, body: null }];
  const report = await payTest({ ...seller, routes, failingRoute: null });
  const evidenceOf = (id: string) => report.trials.find((trial) => trial.id === id)?.evidence ?? '';
  return { report, evidenceOf };
}

describe('a named route that delivers without a payment fails T1', () => {
  test.each([
    ['star-stops', '/report/a/b', 'the guard does not match this path'],
    ['challenge-in-body', '/report', 'it asks for the payment in the body'],
  ])('%s', { timeout: TIMEOUT_MS }, async (kind, path, words) => {
    const { report, evidenceOf } = await tryKind(kind, path);
    expect(listTrialIds(report, 'fail', 'warn', 'pass')).toEqual(['T1']);
    expect(evidenceOf('T1')).toContain(words);
    expect(report.summary).toMatchObject({ delivers: false, gifts: 1, tested: 1 });
  });

  test('also where --only names another trial', { timeout: TIMEOUT_MS }, async () => {
    const routes = [{ method: 'GET', path: '/report/a/b', body: null }];
    const report = await payTest({ ...(await startKind('star-stops')), routes, only: ['T7'] });
    expect(listTrialIds(report, 'fail')).toEqual(['T1']);
    expect(report.summary.gifts).toBe(1);
  });
});

test('a named route that answers 404 is a warning of T1', { timeout: TIMEOUT_MS }, async () => {
  const { report, evidenceOf } = await tryKind('star-stops', '/missing');
  expect(listTrialIds(report, 'fail', 'warn', 'pass')).toEqual(['T1']);
  expect(listTrialIds(report, 'warn')).toEqual(['T1']);
  expect(evidenceOf('T1')).toContain('it answered before it asked for a payment');
  expect(report.summary).toMatchObject({ delivers: false, gifts: 0, tested: 1 });
});

test('a POST route that delivers to a body that is not JSON fails T11', {
  timeout: TIMEOUT_MS,
}, async () => {
  const seller = await startKind('bad-body');
  const routes = [{ method: 'POST', path: '/report', body: null }];
  const report = await payTest({ ...seller, routes, failingRoute: null, only: ['T11'] });
  const trial = report.trials.find(({ id }) => id === 'T11');
  expect(trial).toMatchObject({ status: 'fail', fix: expect.stringContaining('before the body') });
  expect(trial?.evidence).toContain('a body that is not JSON: 200 with the body of the resource');
  expect(trial?.evidence).toContain('an empty body: 200');
});

describe('a till that takes anything', () => {
  test.each([
    ['any-header', ['T2', 'T12']],
    ['any-payment', ['T2']],
  ])('%s fails %j', { timeout: TIMEOUT_MS }, async (kind, gifts) => {
    const { report } = await tryKind(kind);
    expect(listTrialIds(report, 'fail')).toEqual(['T1', ...gifts]);
    expect(report.summary).toMatchObject({ delivers: false, gifts: gifts.length });
  });
});

describe('a route that cannot be paid', () => {
  test.each([
    ['caip2-in-version-1', 'the official client refuses its challenge: "No network/scheme', 'pass'],
    ['source-token', 'the official client refuses its challenge: "EIP-712 domain', 'warn'],
    ['unsigned-token', 'holds no challenge that the official client can read', 'pass'],
  ] as const)(
    '%s is not paid, and T11 and T12 run',
    { timeout: TIMEOUT_MS },
    async (kind, words, pathStatus) => {
      const { report, evidenceOf } = await tryKind(kind);
      expect(evidenceOf('T1')).toMatch(/^not paid: GET \/report: /);
      expect(evidenceOf('T1')).toContain(words);
      expect(listTrialIds(report, 'fail', 'warn', 'pass')).toEqual(['T11', 'T12']);
      expect(report.trials.find(({ id }) => id === 'T11')?.status).toBe(pathStatus);
      expect(report.summary).toMatchObject({ delivers: false, gifts: 0, tested: 0 });
    },
  );

  test.each([
    [['--fail-on', 'fail'], 1],
    [['--only', 'T7', '--fail-on', 'fail'], 2],
    [['--only', 'T7'], 2],
    [[], 0],
  ])('the command with %j exits with %d', { timeout: TIMEOUT_MS }, async (flags, code) => {
    const { target, start } = await startKind('caip2-in-version-1');
    const route = ['--route', 'GET /report'];
    const result = await runCli(['pay-test', target, '--start', start, ...route, ...flags]);
    expect(result.code).toBe(code);
    const [headline, ...lines] = result.stdout.split('\n');
    expect(headline).not.toContain('no way');
    if (code === 2) expect(headline).toBe('Nothing was tested.');
    const notPaidLines = lines.filter((line) => line.includes('not paid: GET /report'));
    expect(notPaidLines).toHaveLength(1);
  });
});

test('T11 speaks of HEAD if only HEAD runs unpaid', { timeout: TIMEOUT_MS }, async () => {
  const report = await payTest({
    ...(await startKind('free-head')),
    routes: [{ method: 'GET', path: '/report', body: null }],
    only: ['T11'],
  });
  expect(report.trials).toMatchObject([
    { id: 'T11', status: 'warn', fix: expect.stringContaining('Guard HEAD') },
  ]);
});

describe('a seller that checks payments itself', () => {
  test('passes, and T3, T4 and T16 do not run', { timeout: TIMEOUT_MS }, async () => {
    const { report, evidenceOf } = await tryKind('settles');
    expect(listTrialIds(report, 'fail')).toEqual([]);
    for (const id of ['T3', 'T4', 'T16']) {
      expect(evidenceOf(id)).toContain('checks payments itself: T5 shows whether settle is obeyed');
      expect(listTrialIds(report, 'not_run')).toContain(id);
    }
    expect(listTrialIds(report, 'pass')).toContain('T5');
  });

  test('T1 quotes the refusal of the facilitator and the error of the seller', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { report, evidenceOf } = await tryKind('forgets-network');
    expect(listTrialIds(report, 'fail')).toEqual(['T1']);
    expect(evidenceOf('T1')).toContain('settle was asked, and refused: network_mismatch');
    expect(evidenceOf('T1')).toContain('the seller says "network_mismatch"');
    expect(TRIAL_IDS.filter((id) => listTrialIds(report, 'not_run').includes(id))).toContain('T3');
  });
});
