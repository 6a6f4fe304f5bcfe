/**
 * Reads the forms of `x-payment-info` in use: AgentCash's structured form and its flat predecessors
 * (@agentcash/discovery, docs/SPECIFICATION.md section 7), and MPP's offers (draft-payment-discovery-01,
 * section "Payment Offer Object").
 */

import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonText,
} from '../json/json.ts';
import { writtenAmount } from '../text/decimal.ts';

export type PriceDeclaration =
  | {
      readonly kind: 'fixed';
      readonly amount: string;
      readonly currency: string;
      readonly pointer: string;
    }
  | {
      readonly kind: 'dynamic';
      readonly min: string | null;
      readonly max: string | null;
      readonly currency: string;
      readonly pointer: string;
    }
  /** MPP amounts are base units of the asset. */
  | { readonly kind: 'mpp'; readonly amount: string | null; readonly pointer: string }
  /** A flat or string form of earlier versions; comparable when `amount` is not null. */
  | {
      readonly kind: 'legacy';
      readonly amount: string | null;
      readonly pointer: string;
      /** Bounds of a dynamic price in the earlier form (`minPrice`, `maxPrice`). */
      readonly range?: { readonly min: string | null; readonly max: string | null };
    };

export type Protocols = {
  readonly protocols: 'objects' | 'strings' | 'missing';
  readonly protocolNames: readonly string[];
};

const FLAT_PRICES = ['price', 'price_usd', 'priceUsd'];
const MAX_LIST = 50;
/** MPP amounts in a currency code are cents, not base units of a token. */
const FIAT = /^[a-z]{3}$/i;

/** `pointer` is the operation's. Null when no readable price is declared. */
export function readPrice(info: JsonValue | undefined, pointer: string): PriceDeclaration | null {
  const at = `${pointer}/x-payment-info`;
  if (!isJsonObject(info)) return flatPrice(info, at);
  if (isJsonObject(info['price'])) return pricedBy(info['price'], `${at}/price`);
  return flatMember(info, at) ?? mppPrice(info, at) ?? legacyPrice(info, at);
}

/** Returns true when the extension declares the operation free (`price.mode` "free"). */
export function isDeclaredFree(info: JsonValue | undefined): boolean {
  return isJsonObject(info) && isJsonObject(info['price']) && info['price']['mode'] === 'free';
}

export function readProtocols(info: JsonValue | undefined): Protocols {
  const listed = isJsonObject(info) ? jsonList(info['protocols']).slice(0, MAX_LIST) : [];
  const protocolNames = listed.flatMap((entry) => {
    if (typeof entry === 'string') return [entry];
    return isJsonObject(entry) ? Object.keys(entry).slice(0, MAX_LIST) : [];
  });
  if (listed.length === 0) return { protocols: 'missing', protocolNames };
  const isStructured = listed.every((entry) => isJsonObject(entry));
  return { protocols: isStructured ? 'objects' : 'strings', protocolNames };
}

function pricedBy(price: JsonObject, pointer: string): PriceDeclaration | null {
  const currency = jsonText(price['currency']) ?? 'USD';
  const amount = asWritten(price['amount']);
  if (price['mode'] === 'dynamic') {
    const [min, max] = [asWritten(price['min']), asWritten(price['max'])];
    return { kind: 'dynamic', min, max, currency, pointer };
  }
  if (price['mode'] === 'fixed') {
    return amount === null ? null : { kind: 'fixed', amount, currency, pointer };
  }
  if (price['mode'] === 'free' || amount === null) return null;
  return { kind: 'legacy', amount: writtenAmount(amount), pointer };
}

function mppPrice(info: JsonObject, at: string): PriceDeclaration | null {
  if (isJsonList(info['offers'])) {
    const offers = info['offers'].slice(0, MAX_LIST).filter(isJsonObject);
    const amounts = new Set(offers.map(mppAmount));
    const [amount = null] = amounts;
    // Offers in several tokens with different amounts give no single price to compare.
    return { kind: 'mpp', amount: amounts.size === 1 ? amount : null, pointer: `${at}/offers` };
  }
  if (typeof info['intent'] !== 'string') return null;
  return { kind: 'mpp', amount: mppAmount(info), pointer: `${at}/amount` };
}

function mppAmount(offer: JsonObject): string | null {
  const { amount, currency } = offer;
  if (typeof currency === 'string' && FIAT.test(currency)) return null;
  return typeof amount === 'string' && /^[0-9]{1,78}$/.test(amount) ? amount : null;
}

/**
 * Reads `price` beside `pricingMode`, the flat form that AgentCash still accepts; other values state a
 * unit.
 */
function flatMember(info: JsonObject, at: string): PriceDeclaration | null {
  for (const name of FLAT_PRICES) {
    const price = flatPrice(info[name], `${at}/${name}`);
    if (price !== null) return price;
  }
  return null;
}

function legacyPrice(info: JsonObject, at: string): PriceDeclaration | null {
  const [min, max] = [writtenAmount(info['minPrice']), writtenAmount(info['maxPrice'])];
  if (min === null && max === null && info['pricingMode'] === undefined) {
    return flatPrice(info['amount'], `${at}/amount`);
  }
  return { kind: 'legacy', amount: null, pointer: at, range: { min, max } };
}

function flatPrice(price: JsonValue | undefined, pointer: string): PriceDeclaration | null {
  if (typeof price !== 'string' && typeof price !== 'number') return null;
  return { kind: 'legacy', amount: writtenAmount(price), pointer };
}

/** Keeps a text that is not a plain amount, so that a check can quote it. */
function asWritten(value: JsonValue | undefined): string | null {
  return writtenAmount(value) ?? jsonText(value);
}
