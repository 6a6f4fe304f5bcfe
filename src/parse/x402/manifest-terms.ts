/** What /.well-known/x402 states of a resource, beside what the resource itself asks for. */
import type { ResourceObservation } from '../../model/observations.ts';
import { baseUnits } from '../text/decimal.ts';
import { knownAsset } from './assets.ts';
import type { ChallengedResource, Offer } from './challenge.ts';
import type { ManifestEntry, ManifestFacts } from './manifest.ts';
import { caip2, namespaceOf } from './networks.ts';

/** One statement of the manifest that the live challenge could be held against. */
export type TermComparison = {
  readonly pointer: string;
  /** As the manifest states it: a decimal, base units, an address. */
  readonly stated: string;
  /** As the challenge has it: base units, addresses. */
  readonly live: string;
  readonly agrees: boolean;
};

export type ManifestTerms = {
  readonly prices: readonly TermComparison[];
  readonly recipients: readonly TermComparison[];
};

const AMOUNT = /^[1-9][0-9]{0,77}$/;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Empty lists where the manifest says nothing of this resource that could be compared. */
export function manifestTerms(
  facts: ManifestFacts,
  originUrl: string,
  { resource, reading }: ChallengedResource,
): ManifestTerms {
  if (facts.shape === 'unknown') return { prices: [], recipients: [] };
  const { offers } = reading.challenge;
  const entries = facts.entries.filter((entry) => names(entry, resource, originUrl));
  const recipients = entries.map((entry) =>
    compareRecipient(entry.payTo, `${entry.pointer}/payTo`, offersFor(entry, offers)),
  );
  if (entries.every(({ payTo }) => payTo === null)) {
    recipients.push(compareRecipient(facts.payTo, '/payTo', offers));
  }
  return {
    prices: entries.flatMap((entry) => comparePrice(entry, offersFor(entry, offers))),
    recipients: recipients.filter((comparison) => comparison !== null),
  };
}

function names(entry: ManifestEntry, resource: ResourceObservation, originUrl: string): boolean {
  const method = entry.method?.toUpperCase() ?? null;
  if (method !== null && resource.method !== null && method !== resource.method) return false;
  const url = URL.parse(entry.target, originUrl);
  // A proxy that ends TLS writes http:// with the own host: the same resource.
  if (url === null || url.host !== new URL(originUrl).host) return false;
  const path = (url.pathname + url.search).replaceAll('%7B', '{').replaceAll('%7D', '}');
  return path === resource.path || path === resource.template;
}

function offersFor({ network, asset }: ManifestEntry, offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(
    (offer) =>
      (network === null || sameText(caip2(network), caip2(String(offer.network)))) &&
      // A symbol ("USDC") is for people to read: only an address tells assets apart.
      (asset === null || familyOf(asset) === null || sameText(asset, String(offer.asset))),
  );
}

function comparePrice(
  { price, amount, pointer }: ManifestEntry,
  offers: readonly Offer[],
): readonly TermComparison[] {
  const stated = amount ?? price;
  if (stated === null) return [];
  const compared = offers.flatMap((offer) => {
    if (typeof offer.amount !== 'string' || !AMOUNT.test(offer.amount)) return [];
    const due = amount === null ? inBaseUnits(stated, offer) : wholeNumber(amount);
    return due === null ? [] : [{ live: offer.amount, agrees: BigInt(offer.amount) === due }];
  });
  const [worst = compared[0]] = compared.filter(({ agrees }) => !agrees);
  return worst === undefined ? [] : [{ pointer, stated, ...worst }];
}

function inBaseUnits(decimal: string, { network, asset }: Offer): bigint | null {
  if (typeof network !== 'string' || typeof asset !== 'string') return null;
  const known = knownAsset(network, asset);
  return known === null ? null : baseUnits(decimal, known.decimals);
}

function wholeNumber(amount: string): bigint | null {
  return /^[0-9]{1,78}$/.test(amount) ? BigInt(amount) : null;
}

/** Addresses of different families are no contradiction: each is held against its own kind. */
function compareRecipient(
  stated: string | null,
  pointer: string,
  offers: readonly Offer[],
): TermComparison | null {
  if (stated === null) return null;
  const family = familyOf(stated);
  const live = offers.flatMap(({ network, payTo }) =>
    typeof payTo === 'string' && family !== null && namespaceOf(String(network)) === family
      ? [payTo]
      : [],
  );
  if (live.length === 0) return null;
  const agrees = live.some((payTo) => sameText(stated, payTo));
  return { pointer, stated, live: [...new Set(live)].join(', '), agrees };
}

function familyOf(address: string): 'eip155' | 'solana' | null {
  if (EVM_ADDRESS.test(address)) return 'eip155';
  return SOLANA_ADDRESS.test(address) ? 'solana' : null;
}

/** EVM addresses are one in any case; all other addresses and names are told apart by it. */
function sameText(one: string, other: string): boolean {
  if (EVM_ADDRESS.test(one)) return one.toLowerCase() === other.toLowerCase();
  return one === other;
}
