/**
 * Official clients judge the rows of their networks. An offer that a client refuses is not sound, and
 * an offer that it signs is sound. `LENIENT` names the exceptions: rules that hold though the client
 * signs.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_CLIENTS } from '../../src/buyers/clients.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
import { parseChallenge } from '../../src/parse/x402/challenge.ts';
import { findOfferFaults } from '../../src/parse/x402/offer-faults.ts';
import type { ChainClient } from '../fixtures/judges/chain-clients.mjs';
import { needs } from '../fixtures/needs.ts';
import { challengeV2, offer } from '../fixtures/observations/build-observations.ts';
import { KNOWN_PAIRS } from '../fixtures/observations/known-pairs.ts';

/** The rule holds though the client signs. The key is the member that breaks the rule. */
const LENIENT: Readonly<Record<string, string>> = {
  'extra/paymentFlow': 'the buyer around the scheme filters by the flow',
  maxTimeoutSeconds: 'the specification has it as a number',
  'extra/areFeesSponsored': 'any value that is not falsy counts as true',
  asset: 'the client for Algorand pays USDC where it cannot read the asset',
};

/** The recipient that the specification for Stellar prints; its checksum is wrong. */
const PRINTED_RECIPIENT = 'GBHEGW3KWOY2OFH767EDALFGCUTBOEVBDQMCKU4APMDLQNBW5QV3W3KO';
const RECIPIENT = 'GDVEU3DD4KOFECV66VIHWEZOYX4ZKR3WV27L464SIIPOU2IUI3JCZA57';

const missing = await missingPackage();
const clients = new Map<string, ChainClient>();
beforeAll(async () => {
  if (missing !== null) return;
  const { startAlgorandClient, startStellarClient } = await import(
    '../fixtures/judges/chain-clients.mjs'
  );
  clients.set('exact on Stellar', await startStellarClient());
  clients.set('exact on Algorand', await startAlgorandClient());
});
afterAll(async () => {
  for (const client of clients.values()) await client[Symbol.asyncDispose]();
});

/** Null if every package is installed in the version that the page of networks names. */
async function missingPackage(): Promise<string | null> {
  for (const { name, version } of TEST_CLIENTS) {
    const manifest = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
    const text = await readFile(manifest, 'utf8').catch(() => null);
    if (text === null) return `${name} is not installed: npm ci`;
    expect(JSON.parse(text)).toMatchObject({ version });
  }
  return null;
}

const CHANGES = KNOWN_PAIRS.filter(({ name }) => /Stellar|Algorand/.test(name)).flatMap(
  ({ name, offer: own, alsoSound = [], wrong }) =>
    [['as its specification prints it', {}] as const, ...alsoSound, ...wrong].map(
      ([how, change]) => [name, how, { ...offer(), ...own, ...change }] as const,
    ),
);

function faultsOf(one: JsonObject): readonly string[] {
  const [parsed] = parseChallenge(challengeV2({ accepts: [one] }), 'header')?.offers ?? [];
  if (parsed === undefined) throw new TypeError('no offer');
  return findOfferFaults(parsed, 2).map(({ pointer }) => pointer.replace('/accepts/0/', ''));
}

describe('the official client of the network', needs(missing), () => {
  it.each(CHANGES)('%s: %s', async (pair, _, one) => {
    const paid = one.payTo === PRINTED_RECIPIENT ? { ...one, payTo: RECIPIENT } : one;
    const words = await clients.get(pair)?.judge(paid);
    const faults = faultsOf(one as JsonObject);
    if (words !== null) {
      expect([faults.length > 0, words]).toEqual([true, words]);
      return;
    }
    expect(faults.filter((member) => LENIENT[member] === undefined)).toEqual([]);
  });

  it('accepts the recipient that the specification for Stellar prints, though its client refuses it', async () => {
    const printed = KNOWN_PAIRS.find(({ name }) => name === 'exact on Stellar')?.offer;
    const one = { ...offer(), ...printed };
    expect(await clients.get('exact on Stellar')?.judge(one)).toContain('Unsupported address');
    expect(faultsOf(one)).toEqual([]);
  });
});
