import { isSameHostname } from '../../guard/origin.ts';
import type { ResourceObservation } from '../../model/observations.ts';
import type { JsonValue } from '../json/json.ts';
import { removeQuery, toTemplateKey } from '../openapi/openapi-path.ts';
import { type StatedPrice, type StatedUnits, toBaseUnits } from '../text/stated-price.ts';
import { findAmountKind, parseAmount } from './amount.ts';
import { findAssetOfOtherNetwork, findOfferAsset, type KnownAsset } from './assets.ts';
import type { ChallengedResource, Offer } from './challenge.ts';
import type { ManifestEntry, ManifestFacts } from './manifest.ts';
import { isEvmAddress, isSameAddress, SOLANA_ADDRESS } from './namespaces.ts';
import { findNamespace, suggestNetwork, toCaip2 } from './networks.ts';
import { findJudgedOffers } from './offer-faults.ts';

/** One term of a document (manifest or OpenAPI), compared with the challenge of the resource. */
export type TermComparison = {
  readonly pointer: string;
  /** The term in the document: a decimal, base units or an address. */
  readonly stated: string;
  /** The term in the challenge: base units, or addresses. */
  readonly live: string;
  readonly agrees: boolean;
};

type ManifestTerms = {
  readonly prices: readonly TermComparison[];
  readonly recipients: readonly TermComparison[];
};

/** A manifest may list one path thousands of times. */
const MAX_ENTRIES_PER_PATH = 100;

/** The entries of a manifest by the key of their path (`toTemplateKey`), each with its position in the document. */
export type EntryIndex = ReadonlyMap<string, readonly IndexedEntry[]>;
export type IndexedEntry = { readonly position: number; readonly entry: ManifestEntry };

/** Each manifest is indexed only once, because a manifest may list thousands of resources. */
export function indexEntries(facts: ManifestFacts, originUrl: string): EntryIndex {
  const byPath = new Map<string, IndexedEntry[]>();
  if (facts.shape === 'unknown') return byPath;
  const origin = new URL(originUrl);
  for (const [position, entry] of facts.entries.entries()) {
    const url = URL.parse(entry.target, originUrl);
    // Only hosts are compared, because sellers behind a proxy that ends TLS may write http:// for https://.
    if (url === null || !isSameHostname(url.hostname, origin.hostname)) continue;
    if (url.port !== origin.port) continue;
    const target = (url.pathname + url.search).replaceAll('%7B', '{').replaceAll('%7D', '}');
    const key = toTemplateKey(target);
    const entries = byPath.get(key) ?? [];
    if (entries.length < MAX_ENTRIES_PER_PATH) entries.push({ position, entry });
    byPath.set(key, entries);
  }
  return byPath;
}

/** Returns empty lists if the manifest states nothing comparable about this resource. */
export function compareManifestTerms(
  facts: ManifestFacts,
  index: EntryIndex,
  challenged: ChallengedResource,
): ManifestTerms {
  const { resource, reading } = challenged;
  if (facts.shape === 'unknown') return { prices: [], recipients: [] };
  const offers = findJudgedOffers(reading.challenge);
  const entries = listEntries(index, resource);
  const recipients = entries.map((entry) =>
    compareRecipient(entry.payTo, `${entry.pointer}/payTo`, findOffersOf(entry, offers)),
  );
  if (entries.every(({ payTo }) => payTo === null)) {
    recipients.push(compareRecipient(facts.payTo, '/payTo', offers));
  }
  return {
    prices: entries
      .filter(({ method }) => method !== null || !isPostBesideGet(challenged))
      .flatMap((entry) => comparePrice(entry, findOffersOf(entry, offers))),
    recipients: recipients.filter((comparison) => comparison !== null),
  };
}

/** If GET sells too, an entry without a method states the price of GET. POST may have another price. */
function isPostBesideGet({ resource, probe }: ChallengedResource): boolean {
  const sellsByGet = resource.probes.some(
    ({ method, answer }) => method === 'GET' && answer.ok && answer.data.status === 402,
  );
  return resource.method === null && probe.method === 'POST' && sellsByGet;
}

/** Returns the entries of a resource in the order of the document. */
function listEntries(index: EntryIndex, resource: ResourceObservation): readonly ManifestEntry[] {
  return findIndexed(index, [resource.path, resource.template, joinBasePath(resource)])
    .toSorted((left, right) => left.position - right.position)
    .flatMap(({ entry }) => [entry, ...(entry.onOtherNetworks ?? [])])
    .filter(({ method }) => {
      const fitsAnyMethod = method === null || resource.method === null;
      return fitsAnyMethod || method.toUpperCase() === resource.method;
    });
}

/** Returns each entry once, though several of the paths may be its address. */
export function findIndexed(index: EntryIndex, paths: readonly string[]): readonly IndexedEntry[] {
  return [...new Set(paths.map(toTemplateKey))].flatMap((key) => index.get(key) ?? []);
}

/** Puts the base path of the server, which OpenAPI's templates lack, before the template. */
function joinBasePath({ path, template }: ResourceObservation): string {
  const steps = removeQuery(path).split('/');
  const templateStepCount = removeQuery(template).split('/').length - 1;
  return steps.slice(0, steps.length - templateStepCount).join('/') + template;
}

function findOffersOf(
  { network, asset }: ManifestEntry,
  offers: readonly Offer[],
): readonly Offer[] {
  return offers.filter(
    (offer) =>
      (network === null || toCaip2(network) === toCaip2(offer.network)) &&
      // Only an address identifies an asset. A symbol such as "USDC" is a display name.
      (asset === null ||
        guessNamespace(asset) === null ||
        isSameAddress(asset, toText(offer.asset))),
  );
}

function comparePrice(
  { price, units, amount, pointer }: ManifestEntry,
  offers: readonly Offer[],
): readonly TermComparison[] {
  const stated = amount ?? price ?? units?.amount ?? null;
  if (stated === null) return [];
  const comparisons = offers.flatMap((offer) => {
    const live = parseAmount(offer.amount);
    // A ceiling is not a price, because the seller may charge less.
    if (live === null || findAmountKind(offer.scheme) !== 'price') return [];
    const agrees =
      amount === null
        ? agreesWithPrice({ dollars: price, units: units ?? null }, offer)
        : BigInt(amount) === live;
    return agrees === null ? [] : [{ live: String(live), agrees }];
  });
  const comparison = comparisons.find(({ agrees }) => !agrees) ?? comparisons[0];
  return comparison === undefined ? [] : [{ pointer, stated, ...comparison }];
}

/** Compares an address only with addresses of the same namespace. Returns null if there are none. */
function compareRecipient(
  stated: string | null,
  pointer: string,
  offers: readonly Offer[],
): TermComparison | null {
  const namespace = stated === null ? null : guessNamespace(stated);
  if (stated === null || namespace === null) return null;
  const recipients = offers
    .filter(({ network }) => findNamespace(network) === namespace)
    .map(({ payTo }) => payTo)
    .filter((payTo) => typeof payTo === 'string');
  if (recipients.length === 0) return null;
  const agrees = recipients.some((payTo) => isSameAddress(stated, payTo));
  return { pointer, stated, live: [...new Set(recipients)].join(', '), agrees };
}

/** Returns an empty text for a value that is not a text. No asset is equal to it. */
function toText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Guesses by the form of the address; null for another text. */
function guessNamespace(address: string): 'eip155' | 'solana' | null {
  if (isEvmAddress(address)) return 'eip155';
  return SOLANA_ADDRESS.test(address) ? 'solana' : null;
}

/**
 * Compares the amount of an offer with a price that a document states. If readers differ about the unit, the price
 * agrees if the amount fits one of the two readings. Returns null if the two cannot be compared.
 */
export function agreesWithPrice({ dollars, units }: StatedPrice, offer: Offer): boolean | null {
  const live = parseAmount(offer.amount);
  if (live === null) return null;
  const byDollars = compareDollars(dollars, offer, live);
  const byUnits = units === null ? null : compareUnits(units, offer, live);
  if (units?.mayBeDollars === true) {
    if (byUnits === true || byDollars === true) return true;
    // The amount may still be in dollars, if the decimals of the token are unknown.
    return byDollars === null ? null : false;
  }
  if (units === null || byDollars !== null) return byDollars;
  // Dollars cannot be compared with a token of unknown decimals. Then only equal base units prove something.
  return dollars === null || byUnits === true ? byUnits : null;
}

/**
 * Finds the token whose decimals the amount of an offer has; null if it is unknown. If the network is misspelt, or does
 * not have the token, P3 reports that fault. The price can be compared all the same.
 */
export function findPricedAsset(offer: Pick<Offer, 'network' | 'asset'>): KnownAsset | null {
  const { asset } = offer;
  const network = suggestNetwork(offer.network, 2) ?? offer.network;
  if (typeof network !== 'string' || typeof asset !== 'string') return null;
  return (
    findOfferAsset(offer) ??
    findOfferAsset({ network, asset }) ??
    findAssetOfOtherNetwork(network, asset)
  );
}

function compareDollars(dollars: string | null, offer: Offer, live: bigint): boolean | null {
  const asset = findPricedAsset(offer);
  if (dollars === null || asset === null) return null;
  const units = toBaseUnits(dollars, asset.decimals);
  return units === null ? null : units === live;
}

/** Returns null for an offer in another token. */
function compareUnits({ amount, asset }: StatedUnits, offer: Offer, live: bigint): boolean | null {
  if (asset !== null && !isAssetOf(asset, offer)) return null;
  return BigInt(amount) === live;
}

/** The document names the token by its address, by its symbol, or by a CAIP-19 id that ends with its address. */
function isAssetOf(asset: string, offer: Offer): boolean {
  const address = asset.split(/[:/]/).at(-1) ?? '';
  const symbol = findOfferAsset(offer)?.symbol.toLowerCase();
  return isSameAddress(address, toText(offer.asset)) || asset.toLowerCase() === symbol;
}
