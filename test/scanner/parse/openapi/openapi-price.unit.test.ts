import { describe, expect, test } from 'vitest';
import { readPrice, readProtocols } from '../../../../src/scanner/parse/openapi/openapi-price.ts';

const INFO_POINTER = '/paths/~1x/get/x-payment-info';

describe('readPrice', () => {
  test.each([
    [
      '/price',
      { price: { mode: 'fixed', currency: 'USD', amount: '0.050000' } },
      { kind: 'fixed', amount: '0.050000', currency: 'USD' },
    ],
    [
      '/price',
      { price: { mode: 'fixed', amount: 0.05 } },
      { kind: 'fixed', amount: '0.05', currency: 'USD' },
    ],
    [
      '/price',
      { price: { mode: 'fixed', amount: '$0.05', currency: 'USDC' } },
      { kind: 'fixed', amount: '0.05', currency: 'USDC' },
    ],
    [
      '/price',
      { price: { mode: 'fixed', amount: 'a nickel' } },
      { kind: 'fixed', amount: 'a nickel', currency: 'USD' },
    ],
    [
      '/price',
      { price: { mode: 'dynamic', currency: 'USD', min: '0.01', max: '2.50' } },
      { kind: 'dynamic', min: '0.01', max: '2.50', currency: 'USD' },
    ],
    [
      '/price',
      { price: { mode: 'dynamic' } },
      { kind: 'dynamic', min: null, max: null, currency: 'USD' },
    ],
    ['/price', { price: { amount: '0.05', currency: 'USD' } }, { kind: 'legacy', amount: '0.05' }],
    [
      '/price',
      { pricingMode: 'fixed', price: '0.010000', protocols: ['x402'] },
      { kind: 'legacy', amount: '0.010000' },
    ],
    ['/price', { price: 'USD 25' }, { kind: 'legacy', amount: '25' }],
    ['/price', { price: 'ask us' }, { kind: 'legacy', amount: null }],
    ['/price_usd', { price_usd: 0.02 }, { kind: 'legacy', amount: '0.02' }],
    ['/price', { price: '100', currency: 'sats' }, { kind: 'legacy', amount: null }],
    [
      '',
      { pricingMode: 'range', minPrice: '0.01', maxPrice: '0.10' },
      { kind: 'legacy', amount: null, range: { min: '0.01', max: '0.10' } },
    ],
    [
      '',
      { pricingMode: 'quote' },
      { kind: 'legacy', amount: null, range: { min: null, max: null } },
    ],
    ['/amount', { amount: '0.05', currency: 'USD' }, { kind: 'legacy', amount: '0.05' }],
    ['', '0.05', { kind: 'legacy', amount: '0.05' }],
    [
      '/amount',
      { intent: 'charge', method: 'tempo', amount: '10000', currency: '0x20c0' },
      { kind: 'mpp', amount: '10000' },
    ],
    [
      '/amount',
      { intent: 'session', method: 'tempo', amount: null },
      { kind: 'mpp', amount: null },
    ],
    [
      '/amount',
      { intent: 'charge', method: 'stripe', amount: '500', currency: 'usd' },
      { kind: 'mpp', amount: null },
    ],
    [
      '/offers',
      {
        offers: [
          { amount: '500', currency: '0xa' },
          { amount: '500', currency: '0xb' },
        ],
      },
      { kind: 'mpp', amount: '500' },
    ],
    ['/offers', { offers: [{ amount: '500' }, { amount: '750' }] }, { kind: 'mpp', amount: null }],
    ['/offers', { offers: [] }, { kind: 'mpp', amount: null }],
    [
      '/accepts/0',
      { accepts: [{ scheme: 'exact', maxAmountRequired: '30000', asset: '0xabc' }] },
      {
        kind: 'legacy',
        amount: null,
        units: { amount: '30000', asset: '0xabc', mayBeDollars: false },
      },
    ],
    ['/amount', { intent: 'charge', amount: '0.05' }, { kind: 'mpp', amount: null }],
  ])('reads the price at x-payment-info%s: %j', (member, info, price) => {
    const pointer = `${INFO_POINTER}${member}`;
    expect(readPrice({ info, pointer: INFO_POINTER })).toEqual({ ...price, pointer });
  });

  test.each([
    [undefined],
    [null],
    [true],
    [{}],
    [{ price: {} }],
    [{ price: { mode: 'fixed' } }],
    [{ price: { mode: 'free' } }],
    [{ price: { mode: 'free', amount: '0' } }],
    [{ price: null }],
    [{ protocols: [{ x402: {} }] }],
  ])('finds no price in %j', (info) => {
    expect(readPrice({ info, pointer: INFO_POINTER })).toBeNull();
  });
});

describe('readProtocols', () => {
  test.each([
    [{ protocols: [{ x402: {} }] }, 'objects', ['x402']],
    [{ protocols: [{ x402: {}, mpp: {} }, { other: {} }] }, 'objects', ['x402', 'mpp', 'other']],
    [{ protocols: ['x402', 'mpp'] }, 'strings', ['x402', 'mpp']],
    [{ protocols: [{ x402: {} }, 'mpp'] }, 'strings', ['x402', 'mpp']],
    [{ protocols: [] }, 'missing', []],
    [{ protocols: 'x402' }, 'missing', []],
    [{}, 'missing', []],
    [undefined, 'missing', []],
  ])('reads %j as %s', (info, protocols, protocolNames) => {
    expect(readProtocols(info)).toEqual({ protocols, protocolNames });
  });
});
