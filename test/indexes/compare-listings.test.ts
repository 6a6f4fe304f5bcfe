/** What indexes hold beside what is live: told apart by field, place and reason. */
import { describe, expect, test } from 'vitest';
import { compareListings } from '../../src/indexes/compare-listings.ts';
import { toListedTerms } from '../../src/indexes/listed-terms.ts';
import { validateDeclarations } from '../../src/indexes/validate-declarations.ts';
import type { IndexedRow } from '../../src/model/indexed.ts';
import type { BazaarListings, Lookup, Observations } from '../../src/model/observations.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
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
  seen,
} from '../fixtures/observations/build-observations.ts';

const PATH = '/forecast';
const INPUT = { type: 'http', method: 'GET', queryParams: { city: 'Paris' } };
const BAZAAR = { info: { input: INPUT }, schema: { type: 'object' } };

describe('a listing that', () => {
  test('agrees is listed, in any order and spelling', () => {
    const input = { queryParams: { city: 'Paris' }, method: 'GET', type: 'http' };
    const item = listed({ extensions: { bazaar: { ...BAZAAR, info: { input } } } });
    expect(rows({ item }).map(({ state }) => state)).toEqual(['listed', 'listed']);
  });

  test.each([
    ['price', { accepts: [offer({ amount: '20000' })] }, '10000', '20000'],
    ['payTo', { accepts: [offer({ payTo: OTHER_PAY_TO })] }, offer()['payTo'], OTHER_PAY_TO],
    ['network', { accepts: [offer({ network: 'eip155:137' })] }, 'eip155:8453', 'eip155:137'],
    ['asset', { accepts: [offer({ asset: OTHER_PAY_TO })] }, offer()['asset'], OTHER_PAY_TO],
    ['scheme', { accepts: [offer({ scheme: 'upto' })] }, 'exact', 'upto'],
    ['description', { description: 'Another one' }, 'The weather', 'Another one'],
    ['x402Version', { x402Version: 1 }, '2', '1'],
  ])('differs in %s says so on both indexes', (field, changes, live, indexed) => {
    for (const row of rows({ item: listed(changes) })) {
      expect(row).toMatchObject({ state: 'differs', differences: [{ field, live, indexed }] });
    }
  });

  test('differs in its input says so by digest', () => {
    const info = { input: { ...INPUT, queryParams: { town: 'Paris' } } };
    const [row] = rows({ item: listed({ extensions: { bazaar: { info } } }) });
    expect(row?.differences).toMatchObject([{ field: 'inputSchema' }]);
    expect(row?.differences[0]?.live).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('is by another method says so', () => {
    const item = listed({ extensions: {} });
    for (const row of rows({ item, method: 'POST' })) {
      expect(row.differences).toEqual([{ field: 'method', live: 'GET', indexed: 'POST' }]);
    }
  });

  test('writes the network by its old name, and the address in lower case, agrees', () => {
    const payTo = String(offer()['payTo']).toLowerCase();
    const entry = { ...offer({ network: 'base', payTo }), amount: undefined };
    const item = listed({ accepts: [{ ...entry, maxAmountRequired: '10000' }] });
    expect(rows({ item }).map(({ state }) => state)).toEqual(['listed', 'listed']);
  });

  test('has a newest settlement shows it on the Bazaar, whether it agrees or differs', () => {
    const lastSettledAt = '2026-08-01T10:00:00.000Z';
    for (const item of [listed(), listed({ description: 'Another one' })]) {
      const entry = { resource: ORIGIN + PATH, method: 'GET', terms: toListedTerms(item) };
      const bazaar = (more: object) =>
        seen<BazaarListings>({ resources: [{ ...entry, ...more }], isComplete: true });
      const [row] = compareListings(observed({ bazaar: bazaar({ lastSettledAt }) }));
      expect(row?.row).toMatchObject({ index: 'bazaar', lastSettledAt });
      const [silent] = compareListings(observed({ bazaar: bazaar({ lastSettledAt: null }) }));
      expect(silent?.row).not.toHaveProperty('lastSettledAt');
    }
  });

  test.each(['http://seller.example', 'https://www.seller.example'])('is under %s', (other) => {
    for (const row of rows({ item: listed(), at: other })) {
      expect(row).toMatchObject({ state: 'listed_elsewhere', listedAs: `${other}${PATH}` });
    }
  });
});

describe('a resource is missing', () => {
  test.each<readonly [string, JsonObject | null, readonly string[]]>([
    ['sound', {}, ['not_registered']],
    ['without a declaration', { extensions: {} }, ['not_registered', 'no_bazaar_extension']],
  ])('from x402scan, %s', (_, changes, codes) => {
    const row = rows({ challenge: changes ?? {} }).find(({ index }) => index === 'x402scan');
    expect(row?.reasons.map(({ code }) => code)).toEqual(codes);
    expect(row?.reasons[0]?.evidence).toContain('x402scan.com/resources/register');
  });

  test.each<readonly [code: string, JsonObject, check: string | null]>([
    ['no_bazaar_extension', { extensions: {} }, 'S5'],
    ['under_minimum', { accepts: [offer({ amount: '999' })] }, null],
    [
      'description_over_500',
      { resource: { url: ORIGIN + PATH, description: 'x'.repeat(501) } },
      'P8',
    ],
    ['resource_url_elsewhere', { resource: { url: `https://other.example${PATH}` } }, 'P3'],
  ])('from the Bazaar for %s', (code, challenge, check) => {
    const [row] = rows({ challenge });
    expect(row).toMatchObject({ index: 'bazaar', state: 'not_listed' });
    expect(row?.reasons).toMatchObject([{ code, check }]);
  });

  test('from both for a declaration that is wrapped twice, and so not validated', () => {
    const [bazaar, x402scan] = compareListings(
      observed({
        resources: resources([
          resource({
            path: PATH,
            get: challenge402(live({ extensions: { bazaar: { bazaar: BAZAAR } } })),
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

  test('from the Bazaar for a fresh recipient in each challenge', () => {
    const fresh = challenge402(live({ accepts: [offer({ payTo: OTHER_PAY_TO })] }));
    const get = [challenge402(live()), fresh];
    const [row] = compareListings(
      observed({ resources: resources([resource({ path: PATH, get })]) }),
    ).map((one) => one.row);
    expect(row?.reasons).toMatchObject([{ code: 'recipient_changes', check: 'P7' }]);
    expect(row?.reasons[0]?.evidence).toContain(OTHER_PAY_TO);
  });

  test('for a recipient that the Bazaar does not know, as D3 says of it', () => {
    const settlements = seen({ ...SETTLED, windowDays: 0, lastAt: null }, 'Bazaar');
    const [row] = compareListings(observed({ settlements })).map((one) => one.row);
    expect(row?.reasons).toMatchObject([{ code: 'no_settlement_seen', check: 'D3' }]);
  });

  test("beside the recipient's others, which the Bazaar counts no payments of, without a reason", () => {
    const settlements = seen({ ...SETTLED, windowDays: 0, lastAt: null }, 'Bazaar');
    const other = { resource: `${ORIGIN}/other`, method: 'GET', terms: toListedTerms(listed()) };
    const bazaar = seen<BazaarListings>({ resources: [other], isComplete: true });
    const [row] = compareListings(observed({ settlements, bazaar })).map((one) => one.row);
    expect(row).toMatchObject({ state: 'not_listed', reasons: [] });
  });

  test('without a reason if nothing explains it', () => {
    expect(rows({})[0]).toMatchObject({ state: 'not_listed', reasons: [] });
  });

  test('because input is validated first', () => {
    const resourceSet = resources([resource({ path: PATH, get: answer(422, {}) })]);
    const [row] = compareListings(observed({ resources: resourceSet })).map(({ row }) => row);
    expect(row?.reasons).toMatchObject([{ code: 'validates_before_challenging', check: 'P2' }]);
  });

  test.each<readonly [string, Partial<{ settlements: number; lastAt: string | null }>, string]>([
    ['nobody paid', { settlements: 0, lastAt: null }, 'no_settlement_seen'],
    ['another facilitator settled', { settlements: 12 }, 'other_facilitator'],
  ])('because %s', (_, changes, code) => {
    const settlements = seen({ ...SETTLED, ...changes });
    const [row] = compareListings(observed({ settlements })).map(({ row }) => row);
    expect(row?.reasons).toMatchObject([{ code, check: 'D3' }]);
  });
});

describe('an entry of the Bazaar whose newest settlement', () => {
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
      const terms = toListedTerms(listed(changes));
      const entry = { resource: ORIGIN + PATH, method: 'GET', terms, lastSettledAt };
      const asOf = new Date(READ_MS - 60_000).toISOString();
      const data: BazaarListings = { resources: [entry], isComplete: true };
      const bazaar = seen(data, 'Bazaar', 60, asOf);
      const [row] = compareListings(observed({ bazaar })).map((one) => one.row);
      expect(row?.state).toBe(changes.description === undefined ? 'listed' : 'differs');
      expect(row?.reasons.map(({ code }) => code)).toEqual(codes);
    }
  });

  test('is unknown is not lapsing', () => {
    expect(rows({ item: listed() })[0]).toMatchObject({ state: 'listed', reasons: [] });
  });
});

describe('an index that', () => {
  test.each<Lookup<never>>([
    { state: 'failed', source: 'Bazaar', detail: 'HTTP 503' },
    { state: 'off', why: 'offline' },
  ])('is silent gives an unknown row: %j', (lookup) => {
    const found = compareListings(observed({ bazaar: lookup, x402scan: lookup }));
    expect(found.map(({ row }) => row.state)).toEqual(['unknown', 'unknown']);
  });

  test('is switched off, or was not asked when it was recorded, has no row', () => {
    const { bazaar: _, ...older } = observed({
      x402scan: { state: 'off', why: 'switched-off' },
    });
    expect(compareListings(older)).toEqual([]);
  });

  test('returns a full page says nothing about entries beyond it', () => {
    const bazaar = seen<BazaarListings>({ resources: [], isComplete: false });
    expect(compareListings(observed({ bazaar }))[0]?.row.state).toBe('unknown');
  });
});

test("the facilitators' package judges a declaration", () => {
  const schema = { type: 'object', properties: { input: { type: 'object', required: ['city'] } } };
  const errors = validateDeclarations([{ info: { input: {} }, schema }, BAZAAR, 'text']);
  expect(errors[0]).toMatch(/^\/extensions\/bazaar\/info\/input: /);
  expect(errors.slice(1)).toEqual([null, '/extensions/bazaar: it is not an object']);
});

const SETTLED = {
  address: String(offer()['payTo']),
  windowDays: 30,
  settlements: 0,
  payers: 1,
  lastAt: '2026-08-14T00:00:00.000Z' as string | null,
};

function live(changes: JsonObject = {}): JsonObject {
  return challengeV2({
    resource: { url: ORIGIN + PATH, description: 'The weather', mimeType: 'application/json' },
    accepts: [offer()],
    extensions: { bazaar: BAZAAR },
    ...changes,
  });
}

function listed(changes: JsonObject = {}): JsonObject {
  const terms = { accepts: [offer()], extensions: { bazaar: BAZAAR } };
  return { x402Version: 2, description: 'The weather', ...terms, ...changes };
}

type Given = {
  /** What both indexes hold; nothing if it is left out. */
  readonly item?: JsonObject;
  readonly at?: string;
  readonly method?: string;
  readonly challenge?: JsonObject;
};

function rows({ item, at = ORIGIN, method = 'GET', challenge = {} }: Given): readonly IndexedRow[] {
  const entry = { resource: at + PATH, method, terms: toListedTerms(item ?? {}) };
  const held = item === undefined ? [] : [entry];
  const isHere = at === ORIGIN;
  const rest = { lastUpdated: null, accepts: 1, deprecated: false };
  const value = observed({
    resources: resources([resource({ path: PATH, get: challenge402(live(challenge)) })]),
    bazaar: seen<BazaarListings>({ resources: held, isComplete: true }),
    x402scan: seen({
      resources: isHere ? held.map((one) => ({ ...one, ...rest })) : [],
      ownershipVerified: null,
      ...(isHere ? {} : { elsewhere: held.map(({ resource }) => resource) }),
    }),
  });
  return compareListings(value).map(({ row }) => row);
}

function observed(changes: Partial<Observations>): Observations {
  const empty = { resources: [], ownershipVerified: null };
  return {
    ...perfectSeller(),
    resources: resources([resource({ path: PATH, get: challenge402(live()) })]),
    settlements: seen({ ...SETTLED, windowDays: 0, lastAt: null }),
    x402scan: seen(empty),
    bazaar: seen<BazaarListings>({ resources: [], isComplete: true }),
    ...changes,
  };
}
