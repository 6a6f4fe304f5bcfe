import fc from 'fast-check';
import { getAddress } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { classifyAddress } from '../../../../src/scanner/parse/x402/address-form.ts';

const BASE_NETWORK = 'eip155:8453';
const SOLANA_NETWORK = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

describe('classifyAddress', () => {
  test('accepts only the checksum that the chain library writes', () => {
    const digits = fc.stringMatching(/^[0-9a-f]{40}$/).filter((text) => /[1-9a-f]/.test(text));
    fc.assert(
      fc.property(digits, fc.nat(39), (text, at) => {
        const checksummed = getAddress(`0x${text}`);
        expect(classifyAddress(BASE_NETWORK, checksummed)).toBe('ok');
        const letter = checksummed.charAt(at + 2);
        const otherCase =
          letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
        const changed = checksummed.slice(0, at + 2) + otherCase + checksummed.slice(at + 3);
        const isMixed = /[a-f]/.test(changed) && /[A-F]/.test(changed);
        if (otherCase !== letter && isMixed)
          expect(classifyAddress(BASE_NETWORK, changed)).toBe('bad-checksum');
      }),
      { seed: 55, numRuns: 300 },
    );
  });

  test.each([
    [BASE_NETWORK, USDC, 'ok'],
    ['base', USDC, 'ok'],
    ['base-sepolia', USDC.toLowerCase(), 'ok'],
    [BASE_NETWORK, `0x${USDC.slice(2).toUpperCase()}`, 'ok'],
    [BASE_NETWORK, USDC.replace('fCD', 'FCD'), 'bad-checksum'],
    [BASE_NETWORK, `0x${'0'.repeat(40)}`, 'zero'],
    [BASE_NETWORK, USDC.slice(2), 'malformed'],
    [BASE_NETWORK, `${USDC}0`, 'malformed'],
    [BASE_NETWORK, USDC.slice(0, -1), 'malformed'],
    [BASE_NETWORK, `${USDC} `, 'malformed'],
    [BASE_NETWORK, 'USDC', 'malformed'],
    [BASE_NETWORK, '', 'malformed'],
    [BASE_NETWORK, SOLANA_USDC, 'malformed'],
    [SOLANA_NETWORK, SOLANA_USDC, 'ok'],
    [SOLANA_NETWORK, '1'.repeat(32), 'zero'],
    [SOLANA_NETWORK, '1'.repeat(33), 'malformed'],
    [SOLANA_NETWORK, SOLANA_USDC.replace('E', '0'), 'malformed'],
    [SOLANA_NETWORK, USDC, 'malformed'],
    [SOLANA_NETWORK, 'z'.repeat(44), 'malformed'],
    [SOLANA_NETWORK, 'z'.repeat(100_000), 'malformed'],
    ['bip122:000000000019d6689c085ae165831e93', 'anonymous', 'ok'],
    ['valueof:x', '0.0.1', 'unknown-network'],
    ['eip155:', USDC, 'unknown-network'],
    ['eip155:08453', USDC, 'unknown-network'],
    ['solana:mainnet', SOLANA_USDC, 'unknown-network'],
    ['ethereum', USDC, 'ok'],
    ['moonbeam', USDC, 'unknown-network'],
    ['', USDC, 'unknown-network'],
  ])('on %s, %s is %s', (network, address, form) => {
    expect(classifyAddress(network, address)).toBe(form);
  });

  test('accepts base58 of exactly 32 bytes for Solana, leading zeroes included', () => {
    const bytes = fc.array(fc.nat(255), { minLength: 32, maxLength: 32 });
    const withZeroes = fc
      .tuple(fc.nat(32), bytes)
      .map(([zeroes, address]) => address.fill(0, 0, zeroes));
    fc.assert(
      fc.property(withZeroes, (address) => {
        const form = address.every((byte) => byte === 0) ? 'zero' : 'ok';
        expect(classifyAddress(SOLANA_NETWORK, encodeBase58(address))).toBe(form);
        expect(classifyAddress(SOLANA_NETWORK, encodeBase58(address.slice(1)))).toBe('malformed');
        expect(classifyAddress(SOLANA_NETWORK, encodeBase58([...address, 7]))).toBe('malformed');
      }),
    );
    expect(classifyAddress(SOLANA_NETWORK, '1'.repeat(1_000_000))).toBe('malformed');
    expect(classifyAddress(SOLANA_NETWORK, `${SOLANA_USDC.slice(1)}0`)).toBe('malformed');
  });
});

/** Encodes base58 with big integers, independent of the parser. */
function encodeBase58(bytes: readonly number[]): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; number > 0n; number /= 58n) text = alphabet.charAt(Number(number % 58n)) + text;
  const zeroes = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeroes === -1 ? bytes.length : zeroes) + text;
}
