import { describe, expect, test } from 'vitest';
import { isTrialId, TRIAL_IDS, type TrialId } from '../../src/pay-test/result.ts';
import { FORECAST, idsWith, payTest, WEATHER } from './run.ts';

const TIMEOUT_MS = 120_000;
/** T4 and T6 wait on purpose, so a run takes long. */
const QUICK_TRIALS = TRIAL_IDS.filter((id) => id !== 'T4' && id !== 'T6');

/** Trials of features that only version 2 has. */
const ONLY_VERSION_2 = ['T15', 'T17', 'T18'];

describe('a careful seller', () => {
  test.each([1, 2] as const)(
    'passes all trials, version %d',
    { timeout: TIMEOUT_MS },
    async (version) => {
      const tested = await payTest({ routes: [WEATHER, FORECAST], seller: { version } });
      const missing = version === 1 ? ONLY_VERSION_2 : [];
      expect(idsWith(tested, 'fail', 'warn')).toEqual([]);
      expect(idsWith(tested, 'pass')).toEqual(TRIAL_IDS.filter((id) => !missing.includes(id)));
      // T9 has no route that is cheaper than the first.
      const notRun = 1 + missing.length * 2;
      expect(tested.summary).toMatchObject({ delivers: true, gifts: 0, not_run: notRun });
      const replayed = tested.trials.find(({ id }) => id === 'T7');
      expect(replayed?.evidence).toContain('a redelivery');
    },
  );
});

/** Only the named trial finds the flaw, and gives it this status. */
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
  ['T17-unproved', 'T17', 'warn'],
  ['T17-forgets', 'T17', 'warn'],
  ['T18', 'T18', 'warn'],
  ['T18-receipt', 'T18', 'warn'],
];
/** Trials that find goods delivered without payment. */
const GIFTS = [
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
    const tested = await payTest({
      routes,
      seller: { flaw },
      only: isTrialId(flaw) ? null : QUICK_TRIALS,
    });
    expect(idsWith(tested, 'fail', 'warn')).toEqual([id]);
    expect(idsWith(tested, status)).toEqual([id]);
    expect(tested.summary.gifts).toBe(GIFTS.includes(flaw) ? 1 : 0);
    expect(tested.summary.delivers).toBe(flaw !== 'T1');
  },
);

test.each([
  ['T16', 'T16'],
  ['T5-preview', 'T5'],
])('in version 1, the flaw %s is found only by %s', { timeout: TIMEOUT_MS }, async (flaw, id) => {
  const tested = await payTest({ seller: { version: 1, flaw } });
  expect(idsWith(tested, 'fail', 'warn')).toEqual([id]);
  expect(idsWith(tested, 'not_run')).toEqual(['T9', ...ONLY_VERSION_2]);
});

test('a pending settlement may be refused at once with its transaction', {
  timeout: TIMEOUT_MS,
}, async () => {
  const tested = await payTest({ only: ['T17'], seller: { flaw: 'T17-once' } });
  expect(tested.trials).toMatchObject([{ id: 'T17', status: 'pass' }]);
  expect(tested.trials[0]?.evidence).toContain('with reason and transaction');
});

test.each(['%5c', '%252f', '%0A', '%0Aa', '%c0', '\\', 'http://', '%2f'])(
  'T11 finds a guard that %s passes',
  { timeout: TIMEOUT_MS },
  async (spelling) => {
    const tested = await payTest({ only: ['T11'], seller: { spelling } });
    expect(tested.trials).toMatchObject([{ id: 'T11', status: 'fail' }]);
    expect(tested.trials[0]?.evidence).toContain(spelling);
  },
);

describe('the example of the bazaar extension', () => {
  test('is sent by each trial', { timeout: TIMEOUT_MS }, async () => {
    const tested = await payTest({ seller: { flaw: 'needs-example' } });
    expect(idsWith(tested, 'fail', 'warn')).toEqual([]);
  });

  test.each(['refuses-example', 'refuses-example-unpaid'])(
    'is left out once the seller %s',
    { timeout: TIMEOUT_MS },
    async (flaw) => {
      const tested = await payTest({ seller: { flaw }, only: QUICK_TRIALS });
      expect(idsWith(tested, 'fail', 'warn')).toEqual(['T1']);
      expect(tested.trials[0]).toMatchObject({ id: 'T1', status: 'warn' });
      expect(tested.trials[0]?.evidence).toContain(
        'GET /weather?city=Bern&days=2&tags=a&tags=b: 422',
      );
      expect(tested.summary.delivers).toBe(true);
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
