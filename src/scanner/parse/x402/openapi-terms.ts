import { jsonAsText } from '../json/json.ts';
import type { OpenApiFacts, Operation, PriceDeclaration } from '../openapi/openapi.ts';
import { type StatedPrice, toBaseUnits } from '../text/stated-price.ts';
import { findAmountKind, parseAmount } from './amount.ts';
import type { ChallengedResource, Offer } from './challenge.ts';
import type { ManifestEntry } from './manifest.ts';
import {
  agreesWithPrice,
  type EntryIndex,
  findIndexed,
  findPricedAsset,
  type TermComparison,
} from './manifest-terms.ts';

type OpenApiTerms = {
  /** True if the document declares a range. Live prices must be in the range, and may differ between probes. */
  readonly isRange: boolean;
  /** A price is compared with both bounds, and a ceiling only with the declared maximum. */
  readonly prices: readonly TermComparison[];
  /** Offers that state a price in a token whose decimals are unknown. */
  readonly unknownDecimals: readonly Offer[];
};

type Bounds = { readonly min: string | null; readonly max: string | null };

type DeclaredPrice = Bounds & {
  readonly isRange: boolean;
  /** True for an MPP price. All other forms are in dollars. */
  readonly isBaseUnits: boolean;
  readonly pointer: string;
  /** The price in base units, if the document states them, or an amount that readers may take for them. */
  readonly inUnits?: StatedPrice;
};

const DOLLAR_CURRENCIES: ReadonlySet<string> = new Set(['USD', 'USDC']);
const NO_TERMS: OpenApiTerms = { isRange: false, prices: [], unknownDecimals: [] };

/** `offers` are the offers of one probe, or of both probes if the document declares a range. */
export function compareOpenApiTerms(
  facts: OpenApiFacts,
  { resource, probe }: Pick<ChallengedResource, 'resource' | 'probe'>,
  offers: readonly Offer[],
): OpenApiTerms {
  const method = resource.method ?? probe.method;
  const declaration = facts.operations.find(
    (operation) =>
      operation.method === method &&
      (operation.template === resource.template || operation.requestPath === resource.path),
  )?.price;
  const price = declaration ? toDeclaredPrice(declaration) : null;
  if (price === null) return NO_TERMS;
  const comparisons = offers.map((offer) => compareOffer(offer, price));
  return {
    isRange: price.isRange,
    prices: comparisons.filter((item) => typeof item === 'object' && item !== null),
    unknownDecimals: offers.filter((_, index) => comparisons[index] === 'unknown-decimals'),
  };
}

function toDeclaredPrice(price: PriceDeclaration): DeclaredPrice | null {
  if ('currency' in price && !DOLLAR_CURRENCIES.has(price.currency.toUpperCase())) return null;
  const { pointer } = price;
  if (price.kind === 'dynamic') return toRange(price, pointer);
  if (price.kind === 'legacy' && price.range !== undefined) return toRange(price.range, pointer);
  const units = price.kind === 'mpp' ? undefined : price.units;
  const { amount } = price;
  if (units !== undefined) {
    const inUnits = { dollars: amount, units };
    const shown = units.mayBeDollars ? amount : units.amount;
    return { min: shown, max: shown, isRange: false, isBaseUnits: false, pointer, inUnits };
  }
  if (amount === null) return null;
  const isBaseUnits = price.kind === 'mpp';
  return { min: amount, max: amount, isRange: false, isBaseUnits, pointer };
}

function toRange({ min, max }: Bounds, pointer: string): DeclaredPrice | null {
  if (min === null && max === null) return null;
  return { min, max, isRange: true, isBaseUnits: false, pointer };
}

/** Returns null if the offer cannot be compared: a ceiling with a fixed price, an invalid amount, an unknown scheme. */
function compareOffer(
  offer: Offer,
  price: DeclaredPrice,
): TermComparison | 'unknown-decimals' | null {
  const kind = findAmountKind(offer.scheme);
  const live = parseAmount(offer.amount);
  if (kind === null || live === null) return null;
  if (kind === 'ceiling' && (!price.isRange || price.max === null)) return null;
  if (price.inUnits !== undefined) return compareInUnits(offer, price, price.inUnits);
  const decimals = price.isBaseUnits ? 0 : findPricedAsset(offer)?.decimals;
  if (decimals === undefined) return kind === 'price' ? 'unknown-decimals' : null;
  const toUnits = (bound: string | null) => (bound === null ? null : toBaseUnits(bound, decimals));
  const min = kind === 'ceiling' ? null : toUnits(price.min);
  const max = toUnits(price.max);
  if (min === null && max === null) return null;
  const agrees = (min === null || live >= min) && (max === null || live <= max);
  const stated = price.isRange ? `${min ?? 0} to ${max ?? 'any'}` : String(min);
  return { pointer: price.pointer, stated, live: String(live), agrees };
}

function compareInUnits(
  offer: Offer,
  { min, pointer }: DeclaredPrice,
  inUnits: StatedPrice,
): TermComparison | 'unknown-decimals' | null {
  const agrees = agreesWithPrice(inUnits, offer);
  if (agrees !== null) {
    return { pointer, stated: min ?? '', live: jsonAsText(offer.amount), agrees };
  }
  return findPricedAsset(offer) === null ? 'unknown-decimals' : null;
}

type PriceContradiction = {
  readonly method: string;
  readonly path: string;
  /** Pointer of the operation in OpenAPI. */
  readonly operation: string;
  /** Pointer of the entry in the manifest. */
  readonly entry: string;
  /** The document that calls the operation free. */
  readonly freeIn: 'openapi' | 'manifest';
  /** The price in the other document, as it stands there; null if it is not a single amount. */
  readonly stated: string | null;
};

const MAX_CONTRADICTIONS = 20;

export function findPriceContradictions(
  { operations }: OpenApiFacts,
  entries: EntryIndex,
): readonly PriceContradiction[] {
  return operations
    .filter(({ elsewhere, priceSign }) => elsewhere === null && priceSign !== null)
    .flatMap((operation) => findContradiction(operation, entries) ?? [])
    .slice(0, MAX_CONTRADICTIONS);
}

function findContradiction(operation: Operation, index: EntryIndex): PriceContradiction | null {
  const { method, template, route, requestPath, pointer, priceSign } = operation;
  const entry = findIndexed(index, [route, template, requestPath])
    .map((indexed) => indexed.entry)
    .find((each) => (each.method ?? method) === method && contradicts(each, priceSign === 'zero'));
  if (entry === undefined) return null;
  const freeIn = priceSign === 'zero' ? 'openapi' : 'manifest';
  const stated = freeIn === 'openapi' ? (entry.price ?? entry.amount) : readAmount(operation);
  return { method, path: template, operation: pointer, entry: entry.pointer, freeIn, stated };
}

function readAmount({ price }: Operation): string | null {
  if (price === null) return null;
  return price.kind === 'dynamic' ? (price.max ?? price.min) : price.amount;
}

function contradicts({ sale }: ManifestEntry, isFreeInOpenApi: boolean): boolean {
  return isFreeInOpenApi ? sale === 'priced' : sale === 'free' || sale === 'both';
}
