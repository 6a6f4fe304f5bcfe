import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/scanner/parse/json/json.ts';
import {
  findPaymentInfoSign,
  findPriceSign,
  readStatedPrice,
  type StatedPrice,
} from '../../../../src/scanner/parse/text/stated-price.ts';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

function inUnits(amount: string, asset: string | null = null): StatedPrice {
  return { dollars: null, units: { amount, asset, mayBeDollars: false } };
}

function inBoth(dollars: string, amount: string, mayBeDollars: boolean): StatedPrice {
  return { dollars, units: { amount, asset: null, mayBeDollars } };
}

function inDollars(dollars: string): StatedPrice {
  return { dollars, units: null };
}

describe('readStatedPrice', () => {
  test.each<[JsonObject, StatedPrice | null]>([
    [{ amount: '10000', currency: 'USDC', decimals: 6 }, inBoth('0.01', '10000', false)],
    [{ amount: 25_000, decimals: 6 }, inBoth('0.025', '25000', false)],
    [{ amount: '7', decimals: 0 }, inBoth('7', '7', false)],
    [{ amount: '0.01', decimals: 6 }, inDollars('0.01')],
    [{ amount: '10000', asset: USDC }, inUnits('10000', USDC)],
    [{ amount: '0.01', asset: 'USDC' }, inDollars('0.01')],
    [{ amount: '0.01', asset: 'XLM' }, null],
    [{ amount: '10000' }, inBoth('10000', '10000', true)],
    [{ amount: '5', currency: 'USDC' }, inBoth('5', '5', true)],
    [{ amount: '10000', currency: 'USD' }, inDollars('10000')],
    [{ amount: '$10000' }, inDollars('10000')],
    [{ amount: 'PAID $0.01' }, inDollars('0.01')],
    [{ amount: 'paid once' }, null],
    [{ amount: '0.01', token: 'XLM' }, null],
    [{ priceAtomic: 10_000 }, inUnits('10000')],
    [{ amount_atomic: '10000', asset: 'USDC' }, inUnits('10000', 'USDC')],
    [{ amount: '10000', currency: 'EURC', decimals: 6 }, null],
    [{ amount: '1e4', decimals: 6 }, null],
    [{ amount: '-1' }, null],
    [{ currency: 'USD' }, null],
    [{ amount: '29.00', currency: 'USD', interval: 'month' }, null],
    [{ amount: '4.99', period: 'P7D' }, null],
    [{ amount: '$99', billing: 'annually' }, null],
    [{ amount: '0.13', dynamicPricing: true }, null],
    [{ amount: '0.01', interval: 'call' }, inDollars('0.01')],
    [{ amount: '0.01', unit: 'USDC', per: 'request' }, inDollars('0.01')],
    [{ amount: '0.13', dynamicPricing: false }, inDollars('0.13')],
  ])('reads %j', (price, expected) => {
    expect(readStatedPrice(price)).toEqual(expected);
  });

  test.each([-1, 37, 1.5, '6', null])('takes the decimals %j for nothing', (decimals) => {
    expect(readStatedPrice({ amount: '10000', decimals })?.units?.mayBeDollars).toBe(true);
  });
});

describe('findPriceSign', () => {
  test.each<[JsonObject, 'positive' | 'zero' | null]>([
    [{ 'x-payment-info': { scheme: 'free', note: 'Create is free.' } }, 'zero'],
    [{ pricing: { model: 'free' } }, 'zero'],
    [{ price: { mode: 'free' } }, 'zero'],
    [{ 'x-payment-info': { scheme: 'free', price: '$0.01' } }, 'positive'],
    [{ 'x-payment-info': { scheme: 'exact', flat_fee_atomic: 5000 } }, null],
    [{ input: { type: 'free' } }, null],
    [{ enabled: false, price: '$0.01' }, 'zero'],
    [{ x402: { enabled: false, price: '$0.01' } }, 'zero'],
    [{ enabled: true, price: '$0.01' }, 'positive'],
    [{ enabled: 'false', price: '$0.01' }, 'positive'],
    [{ price_human: '$0.02' }, 'positive'],
  ])('reads %j', (details, sign) => {
    expect(findPriceSign(details)).toBe(sign);
  });

  test('reads x-payment-info that is free by its scheme', () => {
    expect(findPaymentInfoSign({ scheme: 'free' })).toBe('zero');
  });
});
