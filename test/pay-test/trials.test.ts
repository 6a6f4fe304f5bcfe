import { describe, expect, test } from 'vitest';
import { TRIAL_IDS } from '../../src/pay-test/result.ts';
import { FORECAST, idsWith, payTest, WEATHER } from './run.ts';

const TIMEOUT_MS = 120_000;

describe('a careful seller', () => {
  test.each([1, 2] as const)(
    'passes all trials, version %d',
    { timeout: TIMEOUT_MS },
    async (version) => {
      const tested = await payTest({ routes: [WEATHER, FORECAST], seller: { version } });
      expect(idsWith(tested, 'fail', 'warn')).toEqual([]);
      expect(idsWith(tested, 'pass')).toEqual(TRIAL_IDS);
      expect(tested.summary).toMatchObject({ delivers: true, gifts: 0, not_run: 1 });
      const replayed = tested.trials.find(({ id }) => id === 'T7');
      expect(replayed?.evidence).toContain('a redelivery');
    },
  );
});

describe('a seller with one flaw', () => {
  /** Of those that are deliveries for nothing. */
  const GIFTS = ['T2', 'T3', 'T4', 'T5', 'T6', 'T7', 'T8', 'T9', 'T10', 'T11'];

  test.each(TRIAL_IDS)('is found by %s alone', { timeout: TIMEOUT_MS }, async (flaw) => {
    const routes = flaw === 'T9' ? [WEATHER, FORECAST] : [WEATHER];
    const tested = await payTest({ routes, seller: { flaw } });
    expect(idsWith(tested, 'fail', 'warn')).toEqual([flaw]);
    expect(idsWith(tested, 'fail')).toEqual([flaw]);
    expect(tested.summary.gifts).toBe(GIFTS.includes(flaw) ? 1 : 0);
    expect(tested.summary.delivers).toBe(flaw !== 'T1');
  });
});

test('a run of some trials shows those alone', { timeout: TIMEOUT_MS }, async () => {
  const report = await payTest({ only: ['T7', 'T13'] });
  expect(report.trials.map(({ id, status }) => [id, status])).toEqual([
    ['T7', 'pass'],
    ['T13', 'pass'],
  ]);
  expect(report.summary).toMatchObject({ pass: 2, delivers: true });
});

describe.each([1, 2] as const)('a refusal of version %d', (version) => {
  test('that holds the resource fails T5 alone', { timeout: TIMEOUT_MS }, async () => {
    const tested = await payTest({ seller: { version, flaw: 'T5-preview' } });
    expect(idsWith(tested, 'fail', 'warn')).toEqual(['T5']);
    expect(tested.summary).toMatchObject({ delivers: true, gifts: 1 });
    const found = tested.trials.find(({ id }) => id === 'T5');
    expect(found?.evidence).toContain('inside the body of the refusal');
  });
});
