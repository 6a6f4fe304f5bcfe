/** Reports print the price of an offer in dollars. */
import { expect, test } from 'vitest';
import { formatDollars, toOfferPrice } from '../../../src/scanner/report/answer-line.ts';
import { USDC_BASE } from '../../fixtures/observations/build-observations.ts';

const BASE_OFFER = {
  ...{ pointer: '/accepts/0', scheme: 'exact', network: 'eip155:8453', asset: USDC_BASE },
  ...{ client: '@x402/evm', verdict: 'signs' as const, words: null },
};

test.each([
  ['10000', '0.01'],
  ['2500', '0.0025'],
  ['1', '0.000001'],
  ['5000000', '5.00'],
  ['10000000000', '10,000.00'],
  ['1234567890000', '1,234,567.89'],
])('%s base units of USDC are $%s', (amount, dollars) => {
  const price = toOfferPrice({ ...BASE_OFFER, amount });
  expect(price?.name).toBe('USDC on Base');
  expect(formatDollars(price?.dollars ?? Number.NaN)).toBe(dollars);
});

test.each([
  ['an asset that no table knows', { asset: `0x${'1'.repeat(40)}`, amount: '1' }],
  ['no network', { network: null, amount: '1' }],
  ['an amount in dollars', { amount: '$0.05' }],
  ['no amount', { amount: null }],
])('%s has no price in dollars', (_case, change) => {
  expect(toOfferPrice({ ...BASE_OFFER, ...change })).toBeNull();
});
