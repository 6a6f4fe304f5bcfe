/** Compares the entries of indexes with live challenges. Runs on a worker. */
import {
  INDEXED_FIELDS,
  type IndexedDifference,
  type IndexedField,
  type IndexedRow,
  type IndexName,
} from '../model/indexed.ts';
import type {
  ListedResource,
  ListedTerms,
  Lookup,
  Observations,
  ResourceObservation,
} from '../model/observations.ts';
import type { JsonValue } from '../parse/json/json.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import { cleanText } from '../parse/text/text.ts';
import { parseAmount } from '../parse/x402/amount.ts';
import type { Challenge, ChallengedResource, Offer } from '../parse/x402/challenge.ts';
import { isSameAddress } from '../parse/x402/namespaces.ts';
import { toCaip2 } from '../parse/x402/networks.ts';
import { digestDeclaration, findDeclaredInput, isSameOrigin } from './listed-terms.ts';
import { findLapseReasons, findReasons, type PaidResource } from './listing-reasons.ts';

type ListingObservations = Pick<
  Observations,
  'origin' | 'resources' | 'x402scan' | 'settlements' | 'bazaar'
>;

export type ComparedRow = {
  readonly row: IndexedRow;
  /** The declaration to validate with the Bazaar's rules; undefined if no reason depends on it. */
  readonly declaration?: JsonValue;
};

/** The entries of an index, in a shape that all indexes share. */
type IndexEntries = {
  readonly index: IndexName;
  /** Null if the index gave no answer. */
  readonly resources: readonly ListedResource[] | null;
  /** URLs to search if no entry of this origin matches. They may include entries of this origin. */
  readonly elsewhere: readonly string[];
  readonly isComplete: boolean;
  /** Time of the lookup; null if it failed, or if the index's entries never lapse. */
  readonly readMs: number | null;
};

const MAX_SHOWN_CHARS = 120;
const UNKNOWN_TERMS: ListedTerms = {
  x402Version: null,
  description: null,
  inputSchema: null,
  offers: [],
};

export function compareListings(
  observed: ListingObservations,
  kit: Kit = createKit(),
): readonly ComparedRow[] {
  const indexes = [readBazaar(observed), readX402scan(observed)].filter((index) => index !== null);
  if (indexes.length === 0) return [];
  const paidResources = findPaidResources(observed, kit);
  return paidResources.flatMap((paid) => indexes.map((index) => toRow(observed, paid, index, kit)));
}

function findPaidResources({ resources }: ListingObservations, kit: Kit): readonly PaidResource[] {
  const challenged = kit.challenged(resources);
  return kit.selling(resources).flatMap((resource): readonly PaidResource[] => {
    const own = challenged.filter((paid) => paid.resource === resource);
    if (own.length > 0)
      return own.map((paid) => ({ resource, method: paid.probe.method, challenged: paid }));
    const method = kit.isPostOnly(resource) ? 'POST' : 'GET';
    return [{ resource, method, challenged: null }];
  });
}

function readBazaar({ bazaar }: ListingObservations): IndexEntries | null {
  if (bazaar === undefined || isSwitchedOff(bazaar)) return null;
  const data = bazaar.state === 'seen' ? bazaar.data : null;
  return {
    index: 'bazaar',
    resources: data?.resources ?? null,
    elsewhere: data?.resources.map(({ resource }) => resource) ?? [],
    isComplete: data?.isComplete ?? false,
    readMs: bazaar.state === 'seen' ? Date.parse(bazaar.asOf) + bazaar.ageSec * 1_000 : null,
  };
}

function readX402scan({ x402scan }: ListingObservations): IndexEntries | null {
  if (isSwitchedOff(x402scan)) return null;
  const data = x402scan.state === 'seen' ? x402scan.data : null;
  const resources = data?.resources
    .filter(({ deprecated }) => !deprecated)
    .map(({ resource, method, terms = UNKNOWN_TERMS }) => ({ resource, method, terms }));
  return {
    index: 'x402scan',
    resources: resources ?? null,
    elsewhere: data?.elsewhere ?? [],
    isComplete: true,
    readMs: null,
  };
}

function isSwitchedOff(lookup: Lookup<unknown>): boolean {
  return lookup.state === 'off' && lookup.why === 'switched-off';
}

function toRow(
  observed: ListingObservations,
  paid: PaidResource,
  entries: IndexEntries,
  kit: Kit,
): ComparedRow {
  const { resource, method, challenged } = paid;
  const key = { index: entries.index, resource: shorten(resource.url), method };
  const emptyRow = { ...key, listedAs: null, differences: [], reasons: [] };
  if (entries.resources === null) return { row: { ...emptyRow, state: 'unknown' } };
  const entry = findEntry(entries.resources, observed.origin, paid);
  if (entry !== null) {
    const differences = challenged === null ? [] : findDifferences(challenged, method, entry);
    const state = differences.length > 0 ? 'differs' : 'listed';
    const listedAs = entry.resource === resource.url ? null : shorten(entry.resource);
    const { lastSettledAt } = entry;
    const settled = lastSettledAt ? { lastSettledAt } : {};
    const reasons = entries.readMs === null ? [] : findLapseReasons(entry, entries.readMs);
    return { row: { ...key, state, listedAs, differences, ...settled, reasons } };
  }
  const otherUrl = entries.elsewhere.find((url) => isSamePath(url, resource));
  if (otherUrl !== undefined)
    return { row: { ...emptyRow, state: 'listed_elsewhere', listedAs: shorten(otherUrl) } };
  if (!entries.isComplete) return { row: { ...emptyRow, state: 'unknown' } };
  const context = { ...observed, hasNoEntry: entries.resources.length === 0 };
  const { reasons, declaration } = findReasons(entries.index, paid, context, kit);
  return {
    row: { ...emptyRow, state: 'not_listed', reasons },
    ...(declaration === undefined ? {} : { declaration }),
  };
}

/** Prefers an entry with the same method, then one without a method. */
function findEntry(
  resources: readonly ListedResource[],
  origin: Observations['origin'],
  { resource, method }: PaidResource,
): ListedResource | null {
  const candidates = resources.filter(
    (entry) => isSameOrigin(entry.resource, origin) && isSamePath(entry.resource, resource),
  );
  const byMethod = candidates.find((entry) => entry.method?.toUpperCase() === method);
  return byMethod ?? candidates.find((entry) => entry.method === null) ?? candidates[0] ?? null;
}

/** Ignores the query. Path templates may be percent-encoded. */
function isSamePath(url: string, { path, template }: ResourceObservation): boolean {
  if (!URL.canParse(url)) return false;
  const listed = normalizePath(new URL(url).pathname);
  return listed === normalizePath(path) || listed === normalizePath(template);
}

function normalizePath(path: string): string {
  const name = path.split(/[?#]/, 1)[0] ?? '';
  return name.replaceAll('%7B', '{').replaceAll('%7D', '}').replace(/\/+$/, '') || '/';
}

function findDifferences(
  { reading: { challenge } }: ChallengedResource,
  method: string,
  entry: ListedResource,
): readonly IndexedDifference[] {
  const { terms } = entry;
  const differences = new Map<IndexedField, IndexedDifference>();
  /** The first difference of a field counts. A value that one side lacks is no difference. */
  const add = (field: IndexedField, live: string | null, indexed: string | null) => {
    if (live === null || indexed === null || live === indexed || differences.has(field)) return;
    differences.set(field, { field, live: shorten(live), indexed: shorten(indexed) });
  };
  for (const pair of findOfferDifferences(challenge, terms)) add(...pair);
  const description = challenge.description?.trim() ?? null;
  if (description && terms.description && !isSameText(description, terms.description))
    add('description', description, terms.description);
  const input = digestDeclaration(findDeclaredInput(challenge.value));
  add('inputSchema', input, terms.inputSchema);
  if (entry.method?.toUpperCase() !== method) add('method', method, entry.method);
  const version = terms.x402Version === null ? null : String(terms.x402Version);
  add('x402Version', String(challenge.version), version);
  return INDEXED_FIELDS.flatMap((field) => differences.get(field) ?? []);
}

/** Indexes cut long descriptions, so a text that ends in "…" is compared as a prefix. */
function isSameText(live: string, indexed: string): boolean {
  const text = cleanText(live, Number.POSITIVE_INFINITY);
  return text === indexed || (indexed.endsWith('…') && text.startsWith(indexed.slice(0, -1)));
}

type ListedOffer = ListedTerms['offers'][number];
type FieldPair = readonly [field: IndexedField, live: string | null, indexed: string | null];

/**
 * Ignores offers that both sides have. Compares each other listed offer with the most similar live one, preferably with
 * an unlisted one.
 */
function findOfferDifferences(
  challenge: Challenge,
  { offers: listed }: ListedTerms,
): readonly FieldPair[] {
  const live = challenge.offers.map(toListedOffer);
  const isSame = (liveOffer: ListedOffer, listedOffer: ListedOffer) =>
    findDifferingPairs(liveOffer, listedOffer).length === 0;
  const unmatched = listed.filter((offer) => !live.some((liveOffer) => isSame(liveOffer, offer)));
  const unlisted = live.filter(
    (offer) => !listed.some((listedOffer) => isSame(offer, listedOffer)),
  );
  const candidates = unlisted.length > 0 ? unlisted : live;
  return unmatched.flatMap((offer) => {
    const pairLists = candidates.map((candidate) => findDifferingPairs(candidate, offer));
    return pairLists.toSorted((a, b) => a.length - b.length)[0] ?? [];
  });
}

function toListedOffer({ amount, payTo, network, asset, scheme }: Offer): ListedOffer {
  const toText = (value: JsonValue | undefined) => (typeof value === 'string' ? value : null);
  return {
    price: typeof amount === 'number' ? String(amount) : toText(amount),
    payTo: toText(payTo),
    network: toText(network),
    asset: toText(asset),
    scheme: toText(scheme),
  };
}

const COMPARISONS: readonly (readonly [keyof ListedOffer, (a: string, b: string) => boolean])[] = [
  ['price', (a, b) => (parseAmount(a) ?? a) === (parseAmount(b) ?? b)],
  ['payTo', isSameAddress],
  ['network', (a, b) => toCaip2(a) === toCaip2(b)],
  ['asset', isSameAddress],
  ['scheme', (a, b) => a === b],
];

/** Lists the fields that differ. A field that one side lacks is not compared. */
function findDifferingPairs(live: ListedOffer, listed: ListedOffer): readonly FieldPair[] {
  return COMPARISONS.flatMap(([field, areEqual]) => {
    const [a, b] = [live[field], listed[field]];
    return a === null || b === null || areEqual(a, b) ? [] : [[field, a, b] as const];
  });
}

function shorten(text: string): string {
  return cleanText(text, MAX_SHOWN_CHARS);
}
