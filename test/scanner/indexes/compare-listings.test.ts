/** A comparison of index entries with live challenges names each field that differs and each reason for absence. */
import { describe, expect, test } from 'vitest';
import { createPool } from '../../../src/scanner/engine/judging-pool.ts';
import { compareListings } from '../../../src/scanner/indexes/compare-listings.ts';
import { toListedTerms } from '../../../src/scanner/indexes/listed-terms.ts';
import { validateDeclarations } from '../../../src/scanner/indexes/validate-declarations.ts';
import type { IndexedRow } from '../../../src/scanner/model/indexed.ts';
import type {
  BazaarListings,
  Lookup,
  Observations,
} from '../../../src/scanner/model/observations.ts';
import type { JsonObject } from '../../../src/scanner/parse/json/json.ts';
import { readIndexed } from '../../../src/scanner/scan/readers.ts';
import {
  answer,
  challenge402,
  challengeV2,
  ORIGIN,
  OTHER_PAY_TO,
  offer,
  perfectSeller,
  resource,
  resources,
  toLookup,
} from '../../fixtures/observations/build-observations.ts';

const PATH = '/forecast';
const BAZAAR_INPUT = { type: 'http', method: 'GET', queryParams: { city: 'Paris' } };
const DECLARATION = { info: { input: BAZAAR_INPUT }, schema: { type: 'object' } };

describe('a listing that', () => {
  test('has the same members in another order is listed', () => {
    const input = { queryParams: { city: 'Paris' }, method: 'GET', type: 'http' };
    const item = listedItem({ extensions: { bazaar: { ...DECLARATION, info: { input } } } });
    expect(compareRows({ item }).map(({ state }) => state)).toEqual(['listed', 'listed']);
  });

  test.each([
    ['price', { accepts: [offer({ amount: '20000' })] }, '10000', '20000'],
    ['payTo', { accepts: [offer({ payTo: OTHER_PAY_TO })] }, offer()['payTo'], OTHER_PAY_TO],
    ['network', { accepts: [offer({ network: 'eip155:137' })] }, 'eip155:8453', 'eip155:137'],
    ['asset', { accepts: [offer({ asset: OTHER_PAY_TO })] }, offer()['asset'], OTHER_PAY_TO],
    ['scheme', { accepts: [offer({ scheme: 'upto' })] }, 'exact', 'upto'],
    ['description', { description: 'Another one' }, 'The weather', 'Another one'],
    ['x402Version', { x402Version: 1 }, '2', '1'],
  ])('differs in %s is reported as different for both indexes', (field, changes, live, indexed) => {
    for (const row of compareRows({ item: listedItem(changes) })) {
      expect(row).toMatchObject({ state: 'differs', differences: [{ field, live, indexed }] });
    }
  });

  test('differs in its input schema is reported by digest', () => {
    const info = { input: { ...BAZAAR_INPUT, queryParams: { town: 'Paris' } } };
    const [row] = compareRows({ item: listedItem({ extensions: { bazaar: { info } } }) });
    expect(row?.differences).toMatchObject([{ field: 'inputSchema' }]);
    expect(row?.differences[0]?.live).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('has a description that grows in NFC is listed', () => {
    const description = '\u{958}'.repeat(4);
    const challenge = liveChallenge({ resource: { url: ORIGIN + PATH, description } });
    const rows = compareRows({ item: listedItem({ description }), challenge });
    expect(rows.map(({ state }) => state)).toEqual(['listed', 'listed']);
  });

  test('has another method is reported as different', () => {
    const item = listedItem({ extensions: {} });
    for (const row of compareRows({ item, method: 'POST' })) {
      expect(row.differences).toEqual([{ field: 'method', live: 'GET', indexed: 'POST' }]);
    }
  });

  test('uses the old network name and a lower-case address is listed', () => {
    const payTo = String(offer()['payTo']).toLowerCase();
    const entry = { ...offer({ network: 'base', payTo }), amount: undefined };
    const item = listedItem({ accepts: [{ ...entry, maxAmountRequired: '10000' }] });
    expect(compareRows({ item }).map(({ state }) => state)).toEqual(['listed', 'listed']);
  });

  test('has a newest settlement has the time of the settlement in its Bazaar row', () => {
    const lastSettledAt = '2026-08-01T10:00:00.000Z';
    for (const item of [listedItem(), listedItem({ description: 'Another one' })]) {
      const entry = { resource: ORIGIN + PATH, method: 'GET', terms: toListedTerms(item) };
      const bazaarWith = (members: object) =>
        toLookup<BazaarListings>({ resources: [{ ...entry, ...members }], isComplete: true });
      const [row] = compareListings(createObservations({ bazaar: bazaarWith({ lastSettledAt }) }));
      expect(row?.row).toMatchObject({ index: 'bazaar', lastSettledAt });
      const [unsettled] = compareListings(
        createObservations({ bazaar: bazaarWith({ lastSettledAt: null }) }),
      );
      expect(unsettled?.row).not.toHaveProperty('lastSettledAt');
    }
  });

  test.each(['http://seller.example', 'https://www.seller.example'])(
    'is under %s is reported as listed elsewhere',
    (otherOrigin) => {
      for (const row of compareRows({ item: listedItem(), listedOrigin: otherOrigin })) {
        expect(row).toMatchObject({ state: 'listed_elsewhere', listedAs: `${otherOrigin}${PATH}` });
      }
    },
  );
});

describe('a missing resource', () => {
  test.each<readonly [string, JsonObject | null, readonly string[]]>([
    ['with a declaration', {}, ['not_registered']],
    ['without a declaration', { extensions: {} }, ['not_registered', 'no_bazaar_extension']],
  ])('%s, missing from x402scan, has a reason for each cause', (_, changes, codes) => {
    const row = compareRows({ challenge: changes ?? {} }).find(({ index }) => index === 'x402scan');
    expect(row?.reasons.map(({ code }) => code)).toEqual(codes);
    expect(row?.reasons[0]?.evidence).toContain('x402scan.com/resources/register');
  });

  test.each<readonly [code: string, challenge: JsonObject, check: string | null]>([
    ['no_bazaar_extension', { extensions: {} }, 'S5'],
    ['under_minimum', { accepts: [offer({ amount: '999' })] }, null],
    [
      'description_over_500',
      { resource: { url: ORIGIN + PATH, description: 'x'.repeat(501) } },
      'P8',
    ],
    ['resource_url_elsewhere', { resource: { url: `https://other.example${PATH}` } }, 'P3'],
  ])('missing from the Bazaar has the reason %s', (code, challenge, check) => {
    const [row] = compareRows({ challenge });
    expect(row).toMatchObject({ index: 'bazaar', state: 'not_listed' });
    expect(row?.reasons).toMatchObject([{ code, check }]);
  });

  test('whose declaration is wrapped twice has the reason doubly_wrapped for both indexes, and no validation', () => {
    const [bazaar, x402scan] = compareListings(
      createObservations({
        resources: resources([
          resource({
            path: PATH,
            get: challenge402(liveChallenge({ extensions: { bazaar: { bazaar: DECLARATION } } })),
          }),
        ]),
      }),
    );
    expect(bazaar).not.toHaveProperty('declaration');
    expect(bazaar?.row.reasons).toMatchObject([{ code: 'doubly_wrapped', check: 'S5' }]);
    expect(x402scan?.row.reasons).toMatchObject([
      { code: 'not_registered' },
      { code: 'doubly_wrapped' },
    ]);
  });

  test('whose challenges name different recipients has the reason recipient_changes for the Bazaar', () => {
    const secondChallenge = challenge402(
      liveChallenge({ accepts: [offer({ payTo: OTHER_PAY_TO })] }),
    );
    const get = [challenge402(liveChallenge()), secondChallenge];
    const [row] = compareListings(
      createObservations({ resources: resources([resource({ path: PATH, get })]) }),
    ).map(({ row }) => row);
    expect(row?.reasons).toMatchObject([{ code: 'recipient_changes', check: 'P7' }]);
    expect(row?.reasons[0]?.evidence).toContain(OTHER_PAY_TO);
  });

  test('whose recipient the Bazaar does not know has the reason no_settlement_seen', () => {
    const settlements = toLookup({ ...SETTLEMENTS, windowDays: 0, lastAt: null }, 'Bazaar');
    const [row] = compareListings(createObservations({ settlements })).map(({ row }) => row);
    expect(row?.reasons).toMatchObject([{ code: 'no_settlement_seen', check: 'D3' }]);
  });

  test('has no reason if the Bazaar lists another resource of its recipient, without payments', () => {
    const settlements = toLookup({ ...SETTLEMENTS, windowDays: 0, lastAt: null }, 'Bazaar');
    const otherEntry = {
      resource: `${ORIGIN}/other`,
      method: 'GET',
      terms: toListedTerms(listedItem()),
    };
    const bazaar = toLookup<BazaarListings>({ resources: [otherEntry], isComplete: true });
    const [row] = compareListings(createObservations({ settlements, bazaar })).map(
      ({ row }) => row,
    );
    expect(row).toMatchObject({ state: 'not_listed', reasons: [] });
  });

  test('has no reason if no cause is found', () => {
    expect(compareRows({})[0]).toMatchObject({ state: 'not_listed', reasons: [] });
  });

  test('that validates input before it sends a challenge has the reason validates_before_challenging', () => {
    const resourceSet = resources([resource({ path: PATH, get: answer(422, {}) })]);
    const [row] = compareListings(createObservations({ resources: resourceSet })).map(
      ({ row }) => row,
    );
    expect(row?.reasons).toMatchObject([{ code: 'validates_before_challenging', check: 'P2' }]);
  });

  test.each<readonly [string, Partial<{ settlements: number; lastAt: string | null }>, string]>([
    ['nobody has paid', { settlements: 0, lastAt: null }, 'no_settlement_seen'],
    ['another facilitator has settled', { settlements: 12 }, 'other_facilitator'],
  ])('that %s for has a reason that refers to check D3', (_title, changes, code) => {
    const settlements = toLookup({ ...SETTLEMENTS, ...changes });
    const [row] = compareListings(createObservations({ settlements })).map(({ row }) => row);
    expect(row?.reasons).toMatchObject([{ code, check: 'D3' }]);
  });
});

describe('a Bazaar entry whose newest settlement', () => {
  const READ_MS = Date.parse('2026-08-20T12:00:00Z');
  const DAY_MS = 86_400_000;

  test.each<readonly [string, number, readonly string[]]>([
    ['is 25 days old is not lapsing', 25 * DAY_MS, []],
    ['is over 25 days old is lapsing', 25 * DAY_MS + 1, ['lapsing']],
    ['is 30 days old is lapsing', 30 * DAY_MS, ['lapsing']],
    ['is over 30 days old has lapsed', 30 * DAY_MS + 1, ['lapsed']],
  ])('%s', (_, ageMs, codes) => {
    for (const changes of [{}, { description: 'Another one' }]) {
      const lastSettledAt = new Date(READ_MS - ageMs).toISOString();
      const terms = toListedTerms(listedItem(changes));
      const entry = { resource: ORIGIN + PATH, method: 'GET', terms, lastSettledAt };
      const asOf = new Date(READ_MS - 60_000).toISOString();
      const data: BazaarListings = { resources: [entry], isComplete: true };
      const bazaar = toLookup(data, 'Bazaar', 60, asOf);
      const [row] = compareListings(createObservations({ bazaar })).map(({ row }) => row);
      expect(row?.state).toBe(changes.description === undefined ? 'listed' : 'differs');
      expect(row?.reasons.map(({ code }) => code)).toEqual(codes);
    }
  });

  test('has no known date is not lapsing', () => {
    expect(compareRows({ item: listedItem() })[0]).toMatchObject({ state: 'listed', reasons: [] });
  });
});

describe('an index that', () => {
  test.each<Lookup<never>>([
    { state: 'failed', source: 'Bazaar', detail: 'HTTP 503' },
    { state: 'off', why: 'offline' },
  ])('gave no answer gives an unknown row: %j', (lookup) => {
    const comparisons = compareListings(createObservations({ bazaar: lookup, x402scan: lookup }));
    expect(comparisons.map(({ row }) => row.state)).toEqual(['unknown', 'unknown']);
  });

  test('is switched off, or is absent from the observations, has no row', () => {
    const { bazaar: _, ...withoutBazaar } = createObservations({
      x402scan: { state: 'off', why: 'switched-off' },
    });
    expect(compareListings(withoutBazaar)).toEqual([]);
  });

  test('returns only a part of its entries gives an unknown row', () => {
    const bazaar = toLookup<BazaarListings>({ resources: [], isComplete: false });
    expect(compareListings(createObservations({ bazaar }))[0]?.row.state).toBe('unknown');
  });
});

test('the validation names the place of each error in a declaration', () => {
  const schema = { type: 'object', properties: { input: { type: 'object', required: ['city'] } } };
  const errors = validateDeclarations([{ info: { input: {} }, schema }, DECLARATION, 'text']);
  expect(errors[0]).toMatch(/^\/extensions\/bazaar\/info\/input: /);
  expect(errors.slice(1)).toEqual([null, '/extensions/bazaar: it is not an object']);
});

test('a declaration that is not an object is invalid, even if it is the only declaration of the origin', async () => {
  const pool = createPool({ threads: 1 });
  try {
    for (const bazaar of [[], null]) {
      const challenge = liveChallenge({ extensions: { bazaar } });
      const paidResources = resources([resource({ path: PATH, get: challenge402(challenge) })]);
      const work = { pool, account: pool.openScan('replay') };
      const [row] = await readIndexed(createObservations({ resources: paidResources }), work);
      expect(row?.reasons.map(({ code }) => code)).toContain('invalid_bazaar_extension');
    }
  } finally {
    await pool.close();
  }
});

const SETTLEMENTS = {
  address: String(offer()['payTo']),
  windowDays: 30,
  settlements: 0,
  payers: 1,
  lastAt: '2026-08-14T00:00:00.000Z' as string | null,
};

function liveChallenge(changes: JsonObject = {}): JsonObject {
  return challengeV2({
    resource: { url: ORIGIN + PATH, description: 'The weather', mimeType: 'application/json' },
    accepts: [offer()],
    extensions: { bazaar: DECLARATION },
    ...changes,
  });
}

function listedItem(changes: JsonObject = {}): JsonObject {
  const terms = { accepts: [offer()], extensions: { bazaar: DECLARATION } };
  return { x402Version: 2, description: 'The weather', ...terms, ...changes };
}

type ListingCase = {
  /** Item that both indexes list. Without an item, they list no resource. */
  readonly item?: JsonObject;
  readonly listedOrigin?: string;
  readonly method?: string;
  readonly challenge?: JsonObject;
};

function compareRows({
  item,
  listedOrigin = ORIGIN,
  method = 'GET',
  challenge = {},
}: ListingCase): readonly IndexedRow[] {
  const entry = { resource: listedOrigin + PATH, method, terms: toListedTerms(item ?? {}) };
  const entries = item === undefined ? [] : [entry];
  const isHere = listedOrigin === ORIGIN;
  const x402scanMembers = { lastUpdated: null, accepts: 1, deprecated: false };
  const observations = createObservations({
    resources: resources([resource({ path: PATH, get: challenge402(liveChallenge(challenge)) })]),
    bazaar: toLookup<BazaarListings>({ resources: entries, isComplete: true }),
    x402scan: toLookup({
      resources: isHere ? entries.map((entry) => ({ ...entry, ...x402scanMembers })) : [],
      ownershipVerified: null,
      ...(isHere ? {} : { elsewhere: entries.map(({ resource }) => resource) }),
    }),
  });
  return compareListings(observations).map(({ row }) => row);
}

function createObservations(changes: Partial<Observations>): Observations {
  const noResources = { resources: [], ownershipVerified: null };
  return {
    ...perfectSeller(),
    resources: resources([resource({ path: PATH, get: challenge402(liveChallenge()) })]),
    settlements: toLookup({ ...SETTLEMENTS, windowDays: 0, lastAt: null }),
    x402scan: toLookup(noResources),
    bazaar: toLookup<BazaarListings>({ resources: [], isComplete: true }),
    ...changes,
  };
}
