import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OfferPayability } from '../../../src/scanner/model/payability.ts';
import type { CheckResult, ScanReport } from '../../../src/scanner/model/report.ts';
import { toTally } from '../../../src/service/scans/finished-scan.ts';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

function offer(changes: Partial<OfferPayability> = {}): OfferPayability {
  return {
    pointer: '/accepts/0',
    scheme: 'exact',
    network: 'eip155:8453',
    asset: USDC,
    amount: '10000',
    client: null,
    verdict: 'signs',
    words: null,
    ...changes,
  };
}

function result(id: string, changes: Partial<CheckResult>): CheckResult {
  const texts = { title: 'a-check', outcome: 'seen', evidence: 'Seen.', fix: 'None.' };
  const kind = { category: 'protocol', severity: 'major' } as const;
  return { id, ...texts, ...kind, status: 'pass', basis: 'measured', ...changes };
}

function toReport(
  offers: readonly OfferPayability[],
  changes: Partial<ScanReport> = {},
): ScanReport {
  return {
    origin: 'https://api.example.com',
    grade: 'B',
    score: 84,
    subScores: { protocol: 90, docs: 80, standing: null },
    checksVersion: '2026-08-14.2',
    scannedAt: '2026-09-01T12:00:00.000Z',
    results: [],
    payability: [{ method: 'GET', path: '/', payableBy: 'default', words: null, offers }],
    payableBy: 'default',
    clients: [],
    otherWays: [],
    advice: [],
    indexed: [],
    ...changes,
  };
}

test('a tally counts the host-day, its grade, who can pay it and the status of each check', () => {
  const results = [
    result('P1', { status: 'warn' }),
    result('S1', { status: 'warn', basis: 'not_determined' }),
    result('S2', { status: 'fail', basis: 'not_evaluated' }),
    result('S3', { basis: 'not_applicable' }),
  ];
  expect(toTally(toReport([], { results, payableBy: null }))).toEqual([
    'origins',
    'grade B',
    'payable noChallenge',
    'check P1 warn',
    'check S1 notDetermined',
    'check S2 fail',
    'check S3 pass',
  ]);
});

test('an offer counts once under its scheme, network and price, in any spelling', () => {
  const offers = [
    offer(),
    offer({ asset: USDC.toLowerCase() }),
    offer({ network: 'base', amount: '30000' }),
    offer({ scheme: 'upto', amount: '1' }),
  ];
  expect(toTally(toReport(offers)).slice(3)).toEqual([
    'scheme exact',
    'network eip155:8453',
    `asset ${USDC}`,
    'scheme upto',
    'price 0.01',
  ]);
});

test('a name outside the catalog counts as "other", and has no price', () => {
  const offers = [
    offer({ scheme: '__proto__', network: 'eip155:424242', asset: 'constructor' }),
    offer({ scheme: null, network: null, asset: null, amount: null }),
  ];
  const names = ['scheme other', 'network other', 'asset other'];
  expect(toTally(toReport(offers)).slice(3)).toEqual(names);
});

test.each([
  [['10000'], '0.01'],
  [['10000', '20000', '900000'], '0.02'],
  [['10000', '20000'], '0.01'],
  [['0', '50000'], '0.05'],
  [['123456'], '0.12'],
  [['1'], '0.000001'],
  [['9'.repeat(40)], '1e+34'],
])('the price of %s base units is %s', (amounts, price) => {
  const offers = amounts.map((amount) => offer({ amount }));
  expect(toTally(toReport(offers)).at(-1)).toBe(`price ${price}`);
});

test.each([['0'], ['-1'], ['1.5'], ['ten'], ['']])('an amount of "%s" gives no price', (amount) => {
  expect(toTally(toReport([offer({ amount })])).join()).not.toContain('price');
});

test('a counted price differs from the real price by at most 10 %', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), (amount) => {
      const name = toTally(toReport([offer({ amount: String(amount) })])).at(-1) ?? '';
      const ratio = Number(name.slice('price '.length)) / (Number(amount) / 1e6);
      expect(Math.abs(ratio - 1)).toBeLessThanOrEqual(0.1);
    }),
  );
});
