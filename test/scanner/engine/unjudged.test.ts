/** A seller who hides his offers gains nothing: scans in which nobody could be judged are capped and set aside. */
import { describe, expect, test } from 'vitest';
import { isUnjudged } from '../../../src/scanner/engine/score.ts';
import type { OfferPayability, ResourcePayability } from '../../../src/scanner/model/payability.ts';

const BASE = 'eip155:8453';

function offer(changes: Partial<OfferPayability>): OfferPayability {
  return {
    pointer: '/accepts/0',
    scheme: 'exact',
    network: BASE,
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    amount: '10000',
    client: null,
    verdict: 'unsupported',
    words: null,
    ...changes,
  };
}

function resource(...offers: readonly OfferPayability[]): ResourcePayability {
  return { method: 'GET', path: '/weather', payableBy: 'unknown', words: null, offers };
}

function isUnjudgedWith(...resources: readonly ResourcePayability[]): boolean {
  return isUnjudged({ results: [{ id: 'P2', outcome: 'challenged' }], payability: resources });
}

describe('a scan judged nobody', () => {
  test.each(['rate-limited', 'unread'])('if P2 is %s', (outcome) => {
    expect(isUnjudged({ results: [{ id: 'P2', outcome }], payability: [] })).toBe(true);
    expect(isUnjudged({ results: [{ id: 'S1', outcome }], payability: [] })).toBe(false);
  });

  test.each([
    ['another transfer method', offer({})],
    ['a scheme that the catalog does not know', offer({ scheme: 'nvm:erc4337' })],
    ['a network that the catalog does not know', offer({ network: 'foo:bar' })],
  ])('if every offer is of %s', (_, hidden) => {
    expect(isUnjudgedWith(resource(hidden))).toBe(true);
    expect(isUnjudgedWith(resource(hidden, hidden), resource(hidden))).toBe(true);
    const signed = offer({ client: '@x402/evm', verdict: 'signs' });
    expect(isUnjudgedWith(resource(hidden, signed))).toBe(false);
    expect(isUnjudgedWith(resource(hidden), resource(signed))).toBe(false);
  });
});

describe('a scan judged somebody', () => {
  test.each([
    ['is judged by its row, without a client here', offer({ network: 'hedera:mainnet' })],
    ['is known by name', offer({ scheme: 'exact', network: 'cardano:mainnet' })],
    ['is refused by the client', offer({ client: '@x402/evm', verdict: 'refuses' })],
  ])('if an offer %s', (_, known) => {
    expect(isUnjudgedWith(resource(known))).toBe(false);
    expect(isUnjudgedWith(resource(offer({ scheme: 'own' }), known))).toBe(false);
  });

  test('if no offer was seen, for another reason than our limits', () => {
    expect(isUnjudgedWith()).toBe(false);
    expect(isUnjudged({ results: [], payability: null })).toBe(false);
  });
});
