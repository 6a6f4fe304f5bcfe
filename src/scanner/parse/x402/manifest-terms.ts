import { isSameHostname } from '../../guard/origin.ts';
import type { ResourceObservation } from '../../model/observations.ts';
import type { JsonValue } from '../json/json.ts';
import { findAmountKind, parseAmount } from './amount.ts';
import type { ChallengedResource, Offer } from './challenge.ts';
import { isEvmAddress } from './evm-address.ts';
import type { ManifestEntry, ManifestFacts } from './manifest.ts';
import { isSameAddress, SOLANA_ADDRESS } from './namespaces.ts';
import { findNamespace, toCaip2 } from './networks.ts';
import { findJudgedOffers } from './offer-faults.ts';
import { agreesWithPrice } from './price-agreement.ts';

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

/** The entries of a manifest by path, each with its position in the document. */
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
    const path = (url.pathname + url.search).replaceAll('%7B', '{').replaceAll('%7D', '}');
    const entries = byPath.get(path) ?? [];
    if (entries.length < MAX_ENTRIES_PER_PATH) entries.push({ position, entry });
    byPath.set(path, entries);
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
  return [...new Set([resource.path, resource.template])]
    .flatMap((path) => index.get(path) ?? [])
    .sort((left, right) => left.position - right.position)
    .flatMap(({ entry }) => [entry, ...(entry.onOtherNetworks ?? [])])
    .filter(({ method }) => {
      const fitsAnyMethod = method === null || resource.method === null;
      return fitsAnyMethod || method.toUpperCase() === resource.method;
    });
}

function findOffersOf(
  { network, asset }: ManifestEntry,
  offers: readonly Offer[],
): readonly Offer[] {
  return offers.filter(
    (offer) =>
      (network === null || isSameAddress(toCaip2(network), toCaip2(toText(offer.network)))) &&
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
    // A ceiling is not a price, because the seller may charge less.
    const live = findAmountKind(offer.scheme) === 'price' ? parseAmount(offer.amount) : null;
    const agrees =
      amount === null
        ? agreesWithPrice({ dollars: price, units: units ?? null }, offer)
        : agreesWithUnits(amount, live);
    return live === null || agrees === null ? [] : [{ live: String(live), agrees }];
  });
  const comparison = comparisons.find(({ agrees }) => !agrees) ?? comparisons[0];
  return comparison === undefined ? [] : [{ pointer, stated, ...comparison }];
}

function agreesWithUnits(amount: string, live: bigint | null): boolean | null {
  return live !== null && /^[0-9]{1,78}$/.test(amount) ? BigInt(amount) === live : null;
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

/** Returns an empty text for a value that is not a text. No network or asset is equal to it. */
function toText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Guesses by the form of the address; null for another text. */
function guessNamespace(address: string): 'eip155' | 'solana' | null {
  if (isEvmAddress(address)) return 'eip155';
  return SOLANA_ADDRESS.test(address) ? 'solana' : null;
}
