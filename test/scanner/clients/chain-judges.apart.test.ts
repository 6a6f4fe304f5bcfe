/**
 * Official clients judge the rows of their networks. An offer that a client refuses is not sound, and
 * an offer that it signs is sound. `LENIENT` names the exceptions: rules that hold though the client
 * signs.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_CLIENTS } from '../../../src/scanner/clients/open-clients.ts';
import type { JsonObject } from '../../../src/scanner/parse/json/json.ts';
import { parseChallenge } from '../../../src/scanner/parse/x402/challenge.ts';
import { findOfferFaults } from '../../../src/scanner/parse/x402/offer-faults.ts';
import type { ChainClient } from '../../fixtures/judges/chain-clients.mjs';
import { needs } from '../../fixtures/needs.ts';
import { challengeV2, offer } from '../../fixtures/observations/build-observations.ts';
import { KNOWN_PAIRS } from '../../fixtures/observations/known-pairs.ts';

/** Reasons why a rule holds though the client signs. Each key is the member that breaks the rule. */
const LENIENT: Readonly<Record<string, string>> = {
  'extra/paymentFlow': 'the buyer filters offers by payment flow before the client sees them',
  maxTimeoutSeconds: 'the specification has it as a number',
  'extra/areFeesSponsored': 'any value that is not falsy counts as true',
  asset: 'the client for Algorand pays USDC where it cannot read the asset',
};

/** The recipient that the specification for Stellar prints; its checksum is wrong. */
const PRINTED_RECIPIENT = 'GBHEGW3KWOY2OFH767EDALFGCUTBOEVBDQMCKU4APMDLQNBW5QV3W3KO';
const RECIPIENT = 'GDVEU3DD4KOFECV66VIHWEZOYX4ZKR3WV27L464SIIPOU2IUI3JCZA57';

const missing = await findMissingPackage();
const clients = new Map<string, ChainClient>();
beforeAll(async () => {
  if (missing !== null) return;
  const { startAlgorandClient, startStellarClient } = await import(
    '../../fixtures/judges/chain-clients.mjs'
  );
  clients.set('exact on Stellar', await startStellarClient());
  clients.set('exact on Algorand', await startAlgorandClient());
});
afterAll(async () => {
  for (const client of clients.values()) await client[Symbol.asyncDispose]();
});

/** Null if every package is installed in the version that the page of networks names. */
async function findMissingPackage(): Promise<string | null> {
  for (const { name, version } of TEST_CLIENTS) {
    const manifest = new URL(`../../../node_modules/${name}/package.json`, import.meta.url);
    const text = await readFile(manifest, 'utf8').catch(() => null);
    if (text === null) return `${name} is not installed: npm ci`;
    expect(JSON.parse(text)).toMatchObject({ version });
  }
  return null;
}

const JUDGED_OFFERS = KNOWN_PAIRS.filter(({ name }) => /Stellar|Algorand/.test(name)).flatMap(
  ({ name, offer: pairOffer, alsoSound = [], wrong }) =>
    [['as its specification prints it', {}] as const, ...alsoSound, ...wrong].map(
      ([variant, change]) => [name, variant, { ...offer(), ...pairOffer, ...change }] as const,
    ),
);

function findFaultyMembers(judgedOffer: JsonObject): readonly string[] {
  const [parsed] = parseChallenge(challengeV2({ accepts: [judgedOffer] }), 'header')?.offers ?? [];
  if (parsed === undefined) throw new TypeError('no offer');
  return findOfferFaults(parsed, 2).map(({ pointer }) => pointer.replace('/accepts/0/', ''));
}

describe('the official client of the network', needs(missing), () => {
  test.each(JUDGED_OFFERS)('agrees with our rules on %s: %s', async (pair, _, judgedOffer) => {
    const signable =
      judgedOffer.payTo === PRINTED_RECIPIENT ? { ...judgedOffer, payTo: RECIPIENT } : judgedOffer;
    const refusal = await clients.get(pair)?.judge(signable);
    const faults = findFaultyMembers(judgedOffer as JsonObject);
    if (refusal !== null) {
      expect([faults.length > 0, refusal]).toEqual([true, refusal]);
      return;
    }
    expect(faults.filter((member) => LENIENT[member] === undefined)).toEqual([]);
  });

  test('refuses the recipient that the specification for Stellar prints, but our rules accept it', async () => {
    const printed = KNOWN_PAIRS.find(({ name }) => name === 'exact on Stellar')?.offer;
    const judgedOffer = { ...offer(), ...printed };
    expect(await clients.get('exact on Stellar')?.judge(judgedOffer)).toContain(
      'Unsupported address',
    );
    expect(findFaultyMembers(judgedOffer)).toEqual([]);
  });
});
