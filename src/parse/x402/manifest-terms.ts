import type { ResourceObservation } from '../../model/observations.ts';
import type { JsonValue } from '../json/json.ts';
import { baseUnits } from '../text/decimal.ts';
import { findAmountKind, parseAmount } from './amount.ts';
import { findKnownAsset } from './assets.ts';
import type { ChallengedResource, Offer } from './challenge.ts';
import type { ManifestEntry, ManifestFacts } from './manifest.ts';
import { isSameAddress } from './namespaces.ts';
import { findNamespace, toCaip2 } from './networks.ts';
import { findJudgedOffers } from './offer-faults.ts';

/** A document's statement beside the live challenge's. */
export type TermComparison = {
  readonly pointer: string;
  /** Term of the document: a decimal, base units, an address. */
  readonly stated: string;
  /** Term of the challenge: base units, addresses. */
  readonly live: string;
  readonly agrees: boolean;
};

export type ManifestTerms = {
  readonly prices: readonly TermComparison[];
  readonly recipients: readonly TermComparison[];
};

/** Bounds the work for a manifest that repeats a resource. */
const MAX_ENTRIES_OF_PATH = 100;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Manifest entries by path, each with its position in the document. */
export type EntryIndex = ReadonlyMap<string, readonly PlacedEntry[]>;
type PlacedEntry = { readonly at: number; readonly entry: ManifestEntry };

/** Built once per manifest, because it may list thousands of resources. */
export function indexEntries(facts: ManifestFacts, originUrl: string): EntryIndex {
  const byPath = new Map<string, PlacedEntry[]>();
  if (facts.shape === 'unknown') return byPath;
  const { host } = new URL(originUrl);
  for (const [at, entry] of facts.entries.entries()) {
    const url = URL.parse(entry.target, originUrl);
    // Sellers behind a proxy that ends TLS write http:// with their own host: the same resource.
    if (url === null || url.host !== host) continue;
    const path = (url.pathname + url.search).replaceAll('%7B', '{').replaceAll('%7D', '}');
    const known = byPath.get(path) ?? [];
    if (known.length < MAX_ENTRIES_OF_PATH) known.push({ at, entry });
    byPath.set(path, known);
  }
  return byPath;
}

/** Empty lists when the manifest states nothing comparable about this resource. */
export function compareManifestTerms(
  facts: ManifestFacts,
  index: EntryIndex,
  one: ChallengedResource,
): ManifestTerms {
  const { resource, reading } = one;
  if (facts.shape === 'unknown') return { prices: [], recipients: [] };
  const offers = findJudgedOffers(reading.challenge);
  const entries = listEntries(index, resource);
  const recipients = entries.map((entry) =>
    compareRecipient(entry.payTo, `${entry.pointer}/payTo`, offersFor(entry, offers)),
  );
  if (entries.every(({ payTo }) => payTo === null)) {
    recipients.push(compareRecipient(facts.payTo, '/payTo', offers));
  }
  return {
    prices: entries
      .filter(({ method }) => method !== null || !isSecondMethod(one))
      .flatMap((entry) => comparePrice(entry, offersFor(entry, offers))),
    recipients: recipients.filter((comparison) => comparison !== null),
  };
}

/** An entry without a method gives GET's price; POST may sell at another. */
function isSecondMethod({ resource, probe }: ChallengedResource): boolean {
  const sellsByGet = resource.probes.some(
    ({ method, answer }) => method === 'GET' && answer.ok && answer.data.status === 402,
  );
  return resource.method === null && probe.method === 'POST' && sellsByGet;
}

/** Ordered as in the document. */
function listEntries(index: EntryIndex, resource: ResourceObservation): readonly ManifestEntry[] {
  return [...new Set([resource.path, resource.template])]
    .flatMap((path) => index.get(path) ?? [])
    .sort((one, other) => one.at - other.at)
    .flatMap(({ entry }) => [entry, ...(entry.elsewhere ?? [])])
    .filter(({ method }) => {
      const isAny = method === null || resource.method === null;
      return isAny || method.toUpperCase() === resource.method;
    });
}

function offersFor({ network, asset }: ManifestEntry, offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(
    (offer) =>
      (network === null || isSameAddress(toCaip2(network), toCaip2(toText(offer.network)))) &&
      // A symbol ("USDC") is a display name; only an address identifies an asset.
      (asset === null || findFamily(asset) === null || isSameAddress(asset, toText(offer.asset))),
  );
}

function comparePrice(
  { price, amount, pointer }: ManifestEntry,
  offers: readonly Offer[],
): readonly TermComparison[] {
  const stated = amount ?? price;
  if (stated === null) return [];
  const compared = offers.flatMap((offer) => {
    // A ceiling is not a price, because less may be charged.
    const live = findAmountKind(offer.scheme) === 'price' ? parseAmount(offer.amount) : null;
    const due = amount === null ? inBaseUnits(stated, offer) : wholeNumber(amount);
    return live === null || due === null ? [] : [{ live: String(live), agrees: live === due }];
  });
  const [worst = compared[0]] = compared.filter(({ agrees }) => !agrees);
  return worst === undefined ? [] : [{ pointer, stated, ...worst }];
}

function inBaseUnits(decimal: string, { network, asset }: Offer): bigint | null {
  if (typeof network !== 'string' || typeof asset !== 'string') return null;
  const known = findKnownAsset(network, asset);
  return known === null ? null : baseUnits(decimal, known.decimals);
}

function wholeNumber(amount: string): bigint | null {
  return /^[0-9]{1,78}$/.test(amount) ? BigInt(amount) : null;
}

/** Addresses of different families are compared only within their family. */
function compareRecipient(
  stated: string | null,
  pointer: string,
  offers: readonly Offer[],
): TermComparison | null {
  if (stated === null) return null;
  const family = findFamily(stated);
  const live = offers.flatMap(({ network, payTo }) =>
    typeof payTo === 'string' && family !== null && findNamespace(toText(network)) === family
      ? [payTo]
      : [],
  );
  if (live.length === 0) return null;
  const agrees = live.some((payTo) => isSameAddress(stated, payTo));
  return { pointer, stated, live: [...new Set(live)].join(', '), agrees };
}

/** Returns an empty text for other types, which identify nothing. */
function toText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function findFamily(address: string): 'eip155' | 'solana' | null {
  if (EVM_ADDRESS.test(address)) return 'eip155';
  return SOLANA_ADDRESS.test(address) ? 'solana' : null;
}
