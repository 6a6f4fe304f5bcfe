import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../src/scanner/parse/json/json.ts';
import { parseChallenge } from '../../../../src/scanner/parse/x402/challenge.ts';
import { fixFaults } from '../../../../src/scanner/parse/x402/fault-fixes.ts';
import { suggestNetwork } from '../../../../src/scanner/parse/x402/networks.ts';
import { findOfferFaults } from '../../../../src/scanner/parse/x402/offer-faults.ts';
import { offer, offerV1 } from '../../../fixtures/observations/build-observations.ts';

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const SOLANA_KEY = '9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde';
const ON_SOLANA = {
  network: SOLANA,
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: SOLANA_KEY,
};
const CHANNEL = {
  feePayer: 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd',
  receiverAuthorizer: SOLANA_KEY,
  tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
};

describe('suggestNetwork', () => {
  test.each<[JsonValue, v2: string | null, v1: string | null]>([
    ['base', 'eip155:8453', 'base'],
    ['Base Mainnet', 'eip155:8453', 'base'],
    ['base-sepolia', 'eip155:84532', 'base-sepolia'],
    ['eip155:base', 'eip155:8453', 'base'],
    ['eip155:137', 'eip155:137', 'polygon'],
    ['0x2105', 'eip155:8453', 'base'],
    [8453, 'eip155:8453', 'base'],
    ['solana:mainnet', SOLANA, 'solana'],
    ['solana:mainnet-beta', SOLANA, 'solana'],
    ['solana:devnet', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'solana-devnet'],
    [`${SOLANA}CFtP9YQ`, SOLANA, 'solana'],
    ['stellar:mainnet', 'stellar:pubnet', null],
    ['eip155:999999999', null, null],
    ['toString', null, null],
    [null, null, null],
  ])('takes %j for %j, in version 1 %j', (value, v2, v1) => {
    expect([suggestNetwork(value, 2), suggestNetwork(value, 1)]).toEqual([v2, v1]);
  });
});

describe('fixFaults', () => {
  function fix(entry: JsonObject, version: 1 | 2 = 2): string {
    const challenge = parseChallenge({ x402Version: version, accepts: [entry] }, 'body');
    const [first] = challenge?.offers ?? [];
    if (first === undefined) throw new Error('no offer');
    return fixFaults(findOfferFaults(first, version), first, version);
  }

  test('names the values of our tables, in the terms of the version', () => {
    expect(fix(offer({ network: 'base' }))).toContain('write network as "eip155:8453"');
    expect(fix(offerV1({ network: 'eip155:137' }), 1)).toContain('write network as "polygon"');
    expect(fix(offer({ extra: { name: 'Acme', version: '1' } }))).toBe(
      'set extra.name to "USD Coin" and extra.version to "2", the EIP-712 domain of USDC on Base',
    );
    expect(fix(offer({ network: 'eip155:1' }))).toContain('set network to "eip155:8453"');
    expect(fix(offer({ asset: 'USDC' }))).toContain('the address of USDC on Base');
    expect(fix(offer({ amount: '$1' }))).toContain('1 USDC is "1000000"');
    expect(fix(offer({ asset: 'USDC', extra: {} }))).toContain('set extra.name to "USD Coin"');
    expect(fix(offer({ asset: `0x${'1'.repeat(40)}`, extra: {} }))).toContain("token's own");
    expect(fix(offer({ amount: undefined, maxAmountRequired: '0.05' }))).toBe(
      'use the names of version 2: amount in place of maxAmountRequired; write amount in base units, as text: 1 USDC is "1000000"',
    );
    expect(fix(offer({ amount: undefined, maxAmountRequired: '5000' }))).toMatch(/Required$/);
  });

  test.each<[withdrawDelay: JsonValue, scheme: string, fix: string]>([
    [899, 'batch-settlement', 'set extra.withdrawDelay between 900 and 2592000'],
    [2_592_001, 'batch-settlement', 'set extra.withdrawDelay between 900 and 2592000'],
    [0, 'upto', 'raise extra.withdrawDelay to what the network can carry'],
    [-1, 'upto', 'raise extra.withdrawDelay to what the network can carry'],
    [2 ** 32, 'upto', 'lower extra.withdrawDelay to what the network can carry'],
  ])('says in which direction a delay of %j by %s must change', (withdrawDelay, scheme, text) => {
    const extra = { ...CHANNEL, withdrawDelay };
    expect(fix(offer({ ...ON_SOLANA, scheme, extra }))).toBe(text);
  });

  test('says that a memo is too long', () => {
    const extra = { feePayer: SOLANA_KEY, memo: 'm'.repeat(257) };
    expect(fix(offer({ ...ON_SOLANA, extra }))).toBe(
      'shorten extra.memo to what the network can carry',
    );
  });

  test('never repeats what the seller wrote', () => {
    const evil = 'evil.example';
    const members = { scheme: 7, network: evil, amount: evil, asset: evil, payTo: evil };
    expect(fix(offer({ ...members, maxTimeoutSeconds: 0 }))).not.toContain(evil);
  });
});
