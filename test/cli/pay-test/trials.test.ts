import { describe, expect, test } from 'vitest';
import { isTrialId, TRIAL_IDS, type TrialId } from '../../../src/cli/pay-test/result.ts';
import { FORECAST, listTrialIds, payTest, WEATHER } from './run.ts';

const TIMEOUT_MS = 120_000;
/** T4 and T6 are left out, because they wait for a long time. */
const QUICK_TRIALS = TRIAL_IDS.filter((id) => id !== 'T4' && id !== 'T6');

/** Trials of features that only version 2 has. */
const VERSION_2_TRIALS = ['T15', 'T17', 'T18'];

describe('a careful seller', () => {
  test.each([1, 2] as const)(
    'passes all trials, version %d',
    { timeout: TIMEOUT_MS },
    async (version) => {
      const report = await payTest({ routes: [WEATHER, FORECAST], seller: { version } });
      const notRunTrials = version === 1 ? VERSION_2_TRIALS : [];
      expect(listTrialIds(report, 'fail', 'warn')).toEqual([]);
      expect(listTrialIds(report, 'pass')).toEqual(
        TRIAL_IDS.filter((id) => !notRunTrials.includes(id)),
      );
      // T9 does not run for the first route, because no route is cheaper.
      const notRunCount = 1 + notRunTrials.length * 2;
      expect(report.summary).toMatchObject({ delivers: true, gifts: 0, not_run: notRunCount });
      const replayTrial = report.trials.find(({ id }) => id === 'T7');
      expect(replayTrial?.evidence).toContain('a redelivery');
    },
  );
});

/** Each flaw, the only trial that finds it, and the status of that trial. */
const FLAWS: readonly (readonly [flaw: string, id: TrialId, status: 'fail' | 'warn'])[] = [
  ...TRIAL_IDS.slice(0, 14).map((id) => [id, id, 'fail'] as const),
  ['T5-preview', 'T5', 'fail'],
  ['T15', 'T15', 'warn'],
  ['T15-other', 'T15', 'warn'],
  ['T15-bazaar', 'T15', 'warn'],
  ['T15-info', 'T15', 'warn'],
  ['T16', 'T16', 'warn'],
  ['T16-plain', 'T16', 'warn'],
  ['T17', 'T17', 'fail'],
  ['T17-terms', 'T17', 'fail'],
  ['T17-nonce', 'T17', 'fail'],
  ['T17-unproved', 'T17', 'warn'],
  ['T17-forgets', 'T17', 'warn'],
  ['T18', 'T18', 'warn'],
  ['T18-receipt', 'T18', 'warn'],
];
/** Flaws of sellers that deliver without payment. */
const GIFT_FLAWS = [
  ...['T2', 'T3', 'T4', 'T5', 'T6', 'T7', 'T8', 'T9', 'T10', 'T11'],
  ...['T5-preview', 'T17'],
];

test.each(FLAWS)(
  'the flaw %s is found only by %s: %s',
  {
    timeout: TIMEOUT_MS,
  },
  async (flaw, id, status) => {
    const routes = id === 'T9' ? [WEATHER, FORECAST] : [WEATHER];
    const report = await payTest({
      routes,
      seller: { flaw },
      only: isTrialId(flaw) ? null : QUICK_TRIALS,
    });
    expect(listTrialIds(report, 'fail', 'warn')).toEqual([id]);
    expect(listTrialIds(report, status)).toEqual([id]);
    expect(report.summary.gifts).toBe(GIFT_FLAWS.includes(flaw) ? 1 : 0);
    expect(report.summary.delivers).toBe(flaw !== 'T1');
  },
);

test.each([
  ['T16', 'T16'],
  ['T5-preview', 'T5'],
])('in version 1, the flaw %s is found only by %s', { timeout: TIMEOUT_MS }, async (flaw, id) => {
  const report = await payTest({ seller: { version: 1, flaw } });
  expect(listTrialIds(report, 'fail', 'warn')).toEqual([id]);
  expect(listTrialIds(report, 'not_run')).toEqual(['T9', ...VERSION_2_TRIALS]);
});

test('T17 passes a seller that refuses a pending settlement at once and states its transaction', {
  timeout: TIMEOUT_MS,
}, async () => {
  const report = await payTest({ only: ['T17'], seller: { flaw: 'T17-once' } });
  expect(report.trials).toMatchObject([{ id: 'T17', status: 'pass' }]);
  expect(report.trials[0]?.evidence).toContain('with reason and transaction');
});

test.each(['%5c', '%252f', '%0A', '%0Aa', '%c0', '\\', 'http://', '%2f'])(
  'T11 finds a guard that a path with the spelling %s passes',
  { timeout: TIMEOUT_MS },
  async (spelling) => {
    const report = await payTest({ only: ['T11'], seller: { spelling } });
    expect(report.trials).toMatchObject([{ id: 'T11', status: 'fail' }]);
    expect(report.trials[0]?.evidence).toContain(spelling);
  },
);

describe('the example input in the bazaar extension', () => {
  test('is sent by each trial', { timeout: TIMEOUT_MS }, async () => {
    const report = await payTest({ seller: { flaw: 'needs-example' } });
    expect(listTrialIds(report, 'fail', 'warn')).toEqual([]);
  });

  test.each(['refuses-example', 'refuses-example-unpaid'])(
    'is sent no more after it fails with a seller that %s',
    { timeout: TIMEOUT_MS },
    async (flaw) => {
      const report = await payTest({ seller: { flaw }, only: QUICK_TRIALS });
      expect(listTrialIds(report, 'fail', 'warn')).toEqual(['T1']);
      expect(report.trials[0]).toMatchObject({ id: 'T1', status: 'warn' });
      expect(report.trials[0]?.evidence).toContain(
        'GET /weather?city=Bern&days=2&tags=a&tags=b: 422',
      );
      expect(report.summary.delivers).toBe(true);
    },
  );
});

test('a run of some trials shows only these trials', { timeout: TIMEOUT_MS }, async () => {
  const report = await payTest({ only: ['T7', 'T13'] });
  expect(report.trials.map(({ id, status }) => [id, status])).toEqual([
    ['T7', 'pass'],
    ['T13', 'pass'],
  ]);
  expect(report.summary).toMatchObject({ pass: 2, delivers: true });
});
