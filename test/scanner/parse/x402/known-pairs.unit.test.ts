/** The scanner judges offers that no official client pays by the specification of their scheme and network. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/scanner/parse/json/json.ts';
import { type Challenge, parseChallenge } from '../../../../src/scanner/parse/x402/challenge.ts';
import {
  describeNamedOnly,
  findOfferFaults,
} from '../../../../src/scanner/parse/x402/offer-faults.ts';
import { SCHEMES } from '../../../../src/scanner/parse/x402/schemes.ts';
import { challengeV2, offer } from '../../../fixtures/observations/build-observations.ts';
import { KNOWN_PAIRS, NAMED_OFFERS } from '../../../fixtures/observations/known-pairs.ts';

function createChallenge(...offers: readonly JsonObject[]): Challenge {
  const challenge = parseChallenge(
    challengeV2({ accepts: offers.map((changes) => offer(changes)) }),
    'header',
  );
  if (challenge === null) throw new TypeError('no challenge');
  return challenge;
}

function listFaultPointers(changes: JsonObject): readonly string[] {
  const [parsedOffer] = createChallenge(changes).offers;
  if (parsedOffer === undefined) throw new TypeError('no offer');
  return findOfferFaults(parsedOffer, 2).map(({ pointer }) => pointer);
}

describe.each(KNOWN_PAIRS)('$name', ({ offer: sound, alsoSound = [], wrong }) => {
  test.each([['as its specification prints it', {}] as const, ...alsoSound])('%s', (_, change) => {
    expect(listFaultPointers({ ...sound, ...change })).toEqual([]);
  });

  test.each(wrong)('is not sound with %s', (_, change, pointer) => {
    expect(listFaultPointers({ ...sound, ...change })).toContain(`/accepts/0/${pointer}`);
  });
});

describe('a pair of scheme and network that is known but not judged', () => {
  test.each(NAMED_OFFERS)('%s', (_, namedOffer) => {
    expect(describeNamedOnly(createChallenge(namedOffer))).toContain('is known, not judged here');
    expect(describeNamedOnly(createChallenge(namedOffer, {}))).toBeNull();
    expect(describeNamedOnly(createChallenge({ ...namedOffer, scheme: 'barter' }))).toBeNull();
  });

  test.each([
    ['a decimal amount', { amount: '0.05' }, 'amount'],
    ['no amount', { amount: undefined }, 'amount'],
    ['a text as timeout', { maxTimeoutSeconds: '60' }, 'maxTimeoutSeconds'],
    ['no asset', { asset: '' }, 'asset'],
    ['a recipient that is not text', { payTo: 7 }, 'payTo'],
  ] as const)('follows the rules of every offer: %s', (_, change, member) => {
    const sui = { network: 'sui:mainnet', asset: '0x2::sui::SUI', payTo: '0x1', extra: {} };
    expect(listFaultPointers({ ...sui, ...change } as JsonObject)).toEqual([
      `/accepts/0/${member}`,
    ]);
  });

  test.each([undefined, 0])('may omit the timeout of cloudflare:402, or have 0: %s', (seconds) => {
    const cloudflare = NAMED_OFFERS.find(([name]) => name === 'Cloudflare')?.[1];
    const namedOffer = { ...cloudflare, maxTimeoutSeconds: seconds } as JsonObject;
    expect(listFaultPointers(namedOffer)).toEqual([]);
  });
});

describe('each row of SCHEMES', () => {
  test('names the version of its specification, or the reason why it has none', () => {
    for (const { scheme, namespace, specification, draft } of SCHEMES) {
      const pair = `${scheme} on ${namespace}`;
      if (specification === null) {
        expect([pair, draft]).toEqual([pair, expect.stringMatching(/./)]);
        continue;
      }
      const { file, blob, commit, read } = specification;
      expect([pair, file]).toEqual([pair, expect.stringMatching(/^specs\/schemes\/.+\.md$/)]);
      expect([pair, blob ?? commit]).toEqual([pair, expect.stringMatching(/^[0-9a-f]{40}$/)]);
      expect(new Date(read).toISOString()).toBe(`${read}T00:00:00.000Z`);
    }
  });

  test('names a client only if clients judge the pair, and each pair has one row', () => {
    for (const { client, judgedBy } of SCHEMES) expect(client !== null).toBe(judgedBy === 'client');
    const pairs = SCHEMES.map(({ scheme, namespace }) => `${scheme} ${namespace}`);
    expect(new Set(pairs).size).toBe(pairs.length);
  });
});
