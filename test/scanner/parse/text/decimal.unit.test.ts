import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parseWrittenAmount,
  toBaseUnits,
  toDollars,
} from '../../../../src/scanner/parse/text/stated-price.ts';

describe('toBaseUnits', () => {
  test.each([
    ['0.05', 6, 50_000n],
    ['0.050000', 6, 50_000n],
    ['1', 6, 1_000_000n],
    ['0.0000010', 6, 1n],
    ['0', 6, 0n],
    ['007.5', 1, 75n],
    ['12', 0, 12n],
    ['12.000', 0, 12n],
    ['0.000000000000000001', 18, 1n],
  ])('%s with %i decimals is %s', (decimal, decimals, units) => {
    expect(toBaseUnits(decimal, decimals)).toBe(units);
  });

  test.each([
    '',
    '.5',
    '5.',
    '-1',
    '+1',
    '1e3',
    '0x10',
    ' 1',
    '1 ',
    '$1',
    '1,5',
    '1.2.3',
    '٣',
    'NaN',
  ])('%j is not a decimal', (text) => {
    expect(toBaseUnits(text, 6)).toBeNull();
  });

  test('refuses a value finer than the asset, and does not round it', () => {
    expect(toBaseUnits('0.0000001', 6)).toBeNull();
    expect(toBaseUnits('0.05', 1)).toBeNull();
  });

  test('refuses a value with too many digits', () => {
    expect(toBaseUnits('1'.repeat(100), 6)).toBe(BigInt('1'.repeat(100)) * 1_000_000n);
    expect(toBaseUnits('1'.repeat(101), 6)).toBeNull();
  });

  test('reads back base units that were written as a decimal', () => {
    const units = fc.bigInt({ min: 0n, max: 10n ** 40n });
    fc.assert(
      fc.property(units, fc.integer({ min: 0, max: 30 }), (amount, decimals) => {
        const digits = String(amount).padStart(decimals + 1, '0');
        const whole = digits.slice(0, digits.length - decimals);
        const fraction = digits.slice(digits.length - decimals);
        expect(toBaseUnits(decimals === 0 ? whole : `${whole}.${fraction}`, decimals)).toBe(amount);
      }),
    );
  });
});

describe('toDollars', () => {
  test.each([
    ['0.010000', '0.01'],
    ['$0.01', '0.01'],
    [0.01, '0.01'],
    ['0.01 USDC', '0.01'],
    ['USD 25', '25'],
    ['$0.01 per call', '0.01'],
    ['$0.01/request', '0.01'],
    ['0.01 USDC per API call', '0.01'],
    ['$ 1.50', '1.5'],
    ['.5', '0.5'],
    ['00.10', '0.1'],
    ['1.000', '1'],
    ['0', '0'],
    [0, '0'],
    [1e-7, '0.0000001'],
    [25, '25'],
  ])('%j is %s', (price, decimal) => {
    expect(toDollars(price)).toBe(decimal);
  });

  test.each([
    [undefined],
    [null],
    [''],
    ['$'],
    ['free'],
    ['0.01-0.05'],
    ['$0.01 per 1,000 calls'],
    ['$0.01 per token'],
    ['per call'],
    ['0.01 EUR'],
    ['-1'],
    [-1],
    [1e21],
    [Number.POSITIVE_INFINITY],
    [{ amount: '1' }],
    ['1'.repeat(200)],
  ])('%j is not an amount', (price) => {
    expect(toDollars(price)).toBeNull();
  });

  test('returns the same decimal for a number and for its text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000_000 }), (millionths) => {
        const number = millionths / 1_000_000;
        expect(toDollars(number)).toBe(toDollars(number.toFixed(6)));
      }),
    );
  });
});

describe('parseWrittenAmount', () => {
  test('keeps trailing zeroes', () => {
    expect(parseWrittenAmount('$0.050000')).toBe('0.050000');
  });
});
