import type { OpenApiFacts, PriceDeclaration, SecurityScheme } from '../openapi/openapi.ts';
import { baseUnits } from '../text/decimal.ts';
import { findAmountKind, parseAmount } from './amount.ts';
import { findKnownAsset } from './assets.ts';
import type { ChallengedResource, Offer } from './challenge.ts';
import type { TermComparison } from './manifest-terms.ts';

export type OpenApiTerms = {
  /** True for a dynamic price: live prices must lie within it, and may differ between probes. */
  readonly isRange: boolean;
  /** Prices are compared with all bounds, a ceiling with the declared maximum. */
  readonly prices: readonly TermComparison[];
  /** Priced offers in tokens whose decimals are unknown. */
  readonly unknownDecimals: readonly Offer[];
};

type Declared = {
  readonly min: string | null;
  readonly max: string | null;
  readonly isRange: boolean;
  /** MPP states base units; all other forms state dollars. */
  readonly isBaseUnits: boolean;
  readonly pointer: string;
};
type Bounds = { readonly min: bigint | null; readonly max: bigint | null };

const DOLLARS: ReadonlySet<string> = new Set(['USD', 'USDC']);
const NOTHING: OpenApiTerms = { isRange: false, prices: [], unknownDecimals: [] };

/** `offers` come from one probe, or from both when a range is declared. */
export function compareOpenApiTerms(
  facts: OpenApiFacts,
  { resource, probe }: Pick<ChallengedResource, 'resource' | 'probe'>,
  offers: readonly Offer[],
): OpenApiTerms {
  const method = resource.method ?? probe.method;
  const price = facts.operations.find(
    (one) =>
      one.method === method &&
      (one.template === resource.template || one.requestPath === resource.path),
  )?.price;
  const declared = price ? parseBounds(price) : null;
  if (declared === null) return NOTHING;
  const compared = offers.map((offer) => compare(offer, declared));
  return {
    isRange: declared.isRange,
    prices: compared.filter((one) => typeof one === 'object' && one !== null),
    unknownDecimals: offers.filter((_, index) => compared[index] === 'unknown-decimals'),
  };
}

function parseBounds(price: PriceDeclaration): Declared | null {
  if ('currency' in price && !DOLLARS.has(price.currency.toUpperCase())) return null;
  const { pointer } = price;
  const range =
    price.kind === 'dynamic' ? price : price.kind === 'legacy' ? price.range : undefined;
  if (range !== undefined) {
    const { min, max } = range;
    if (min === null && max === null) return null;
    return { min, max, isRange: true, isBaseUnits: false, pointer };
  }
  if (price.kind === 'dynamic' || price.amount === null) return null;
  const { amount } = price;
  const isBaseUnits = price.kind === 'mpp';
  return { min: amount, max: amount, isRange: false, isBaseUnits, pointer };
}

/** Null when nothing is comparable: a ceiling and a fixed price, an odd amount or scheme. */
function compare(offer: Offer, declared: Declared): TermComparison | 'unknown-decimals' | null {
  const kind = findAmountKind(offer.scheme);
  const live = parseAmount(offer.amount);
  if (kind === null || live === null) return null;
  if (kind === 'ceiling' && (!declared.isRange || declared.max === null)) return null;
  const decimals = declared.isBaseUnits ? 0 : findDecimals(offer);
  if (decimals === null) return kind === 'price' ? 'unknown-decimals' : null;
  const all = inBaseUnits(declared, decimals);
  const bounds = kind === 'ceiling' ? { ...all, min: null } : all;
  if (bounds.min === null && bounds.max === null) return null;
  const agrees =
    (bounds.min === null || live >= bounds.min) && (bounds.max === null || live <= bounds.max);
  const stated = declared.isRange ? rangeText(bounds) : String(bounds.min);
  return { pointer: declared.pointer, stated, live: String(live), agrees };
}

function rangeText({ min, max }: Bounds): string {
  return `${min ?? 0} to ${max ?? 'any'}`;
}

function inBaseUnits({ min, max }: Declared, decimals: number): Bounds {
  return {
    min: min === null ? null : baseUnits(min, decimals),
    max: max === null ? null : baseUnits(max, decimals),
  };
}

function findDecimals({ network, asset }: Offer): number | null {
  if (typeof network !== 'string' || typeof asset !== 'string') return null;
  return findKnownAsset(network, asset)?.decimals ?? null;
}

export type PaymentSchemes = {
  /** Names of schemes that declare x402 itself. */
  readonly x402: readonly string[];
  /** Names of apiKey schemes that use a payment header. */
  readonly apiKeys: readonly string[];
};

const PAYMENT_HEADERS: ReadonlySet<string> = new Set(['payment-signature', 'x-payment']);

/** Finds the security schemes of an OpenAPI document that mean payment over x402. */
export function findPaymentSchemes({ securitySchemes }: OpenApiFacts): PaymentSchemes {
  return {
    x402: securitySchemes.filter(isX402).map(({ name }) => name),
    apiKeys: securitySchemes.filter(isPaymentKey).map(({ name }) => name),
  };
}

function isX402({ name, type, scheme }: SecurityScheme): boolean {
  if (type === 'http' && scheme.toLowerCase() === 'x402') return true;
  return name.toLowerCase() === 'x402' && type !== 'apiKey' && type !== '';
}

function isPaymentKey({ name, type, parameter }: SecurityScheme): boolean {
  if (type !== 'apiKey') return false;
  return name.toLowerCase() === 'x402' || PAYMENT_HEADERS.has(parameter.toLowerCase());
}
