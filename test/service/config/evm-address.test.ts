/** The settings parse addresses and keys without viem. These tests compare the results with those of viem. */
import fc from 'fast-check';
import { getAddress, type Hex, isAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import {
  isChecksummed,
  isEvmAddress,
  toChecksummed,
} from '../../../src/scanner/parse/x402/namespaces.ts';
import { deriveAddress } from '../../../src/service/config/payment.ts';

const hexOfLength = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((digits): Hex => `0x${digits.join('')}`);

const CURVE_ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';

test('toChecksummed gives the same address as viem', () => {
  fc.assert(
    fc.property(hexOfLength(40), (address) => {
      expect(toChecksummed(address)).toBe(getAddress(address));
      expect(isChecksummed(getAddress(address))).toBe(true);
    }),
  );
});

test.each([
  '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  '0x833589FCD6EDB6E08F4C7C32D4F71B54BDA02913',
  '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914',
  '0x833589fcd6edb6e08f4c7c32d4f71b54bda0291',
  '0X833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  '833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  '',
])('isChecksummed and isEvmAddress agree with viem about %j', (address) => {
  expect(isChecksummed(address)).toBe(isAddress(address));
  expect(isEvmAddress(address)).toBe(isAddress(address, { strict: false }));
});

test('deriveAddress gives the same address for a key as viem', () => {
  fc.assert(
    fc.property(hexOfLength(64), (key) => {
      fc.pre(!/^0x0+$/.test(key));
      expect(deriveAddress(key)).toBe(privateKeyToAccount(key).address);
    }),
    { numRuns: 20 },
  );
});

test.each([
  '',
  '0x',
  `0x${'0'.repeat(64)}`,
  `0x${CURVE_ORDER}`,
  `0x${'1'.repeat(63)}`,
  '1'.repeat(64),
])('deriveAddress and viem both refuse the key %j', (key) => {
  expect(deriveAddress(key)).toBeNull();
  expect(() => privateKeyToAccount(key as Hex)).toThrow();
});
