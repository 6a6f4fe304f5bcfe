/**
 * Reads the prices of documents, and their signs. A document may leave open if an amount is in dollars or in base
 * units. Prices stay decimal texts and bigint, because floating point would round money.
 */
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonText,
} from '../json/json.ts';

/** A price in base units, beside or in place of a price in dollars. */
export type StatedUnits = {
  /** A whole number without leading zeroes. */
  readonly amount: string;
  /** The token, by its address or symbol; null if the price names none. */
  readonly asset: string | null;
  /** True if readers differ: some read the amount as dollars, and some as base units. */
  readonly mayBeDollars: boolean;
};

export type StatedPrice = {
  /** Decimal dollars; null if the price is in base units of a token whose decimals it does not state. */
  readonly dollars: string | null;
  /** Null if the price can only be in dollars. */
  readonly units: StatedUnits | null;
};

/** Members that hold a price in dollars, or in the USDC of their names. */
const FLAT_PRICE_MEMBERS = [
  ...['price', 'price_usd', 'priceUsd', 'priceUSD', 'price_usdc', 'priceUsdc', 'priceUSDC'],
  ...['per_call', 'perCall', 'per_request', 'perRequest'],
  ...['price_human', 'price_display', 'priceDisplay'],
];
/** Members whose names say that they are in base units. */
const UNIT_MEMBERS = [
  ...['price_atomic', 'priceAtomic', 'amount_atomic', 'amountAtomic'],
  ...['price_micros', 'priceMicros'],
  ...['price_micro_usdc', 'priceMicroUsdc', 'amount_micro_usdc', 'amountMicroUsdc'],
];
/** Members that say what else than one call a price buys. */
const PERIOD_MEMBER =
  /^(?:interval|period|billing(?:[-_]?(?:period|cycle))?|cycle|frequency|recurrence|per|every|unit)$/i;
const PERIOD =
  /^(?:p[0-9]+[dwmy]|(?:(?:per|each|every|a|[0-9]+)[ _-]?)?(?:hour|day|week|month|quarter|year)s?|(?:hour|dai|week|month|quarter|year)ly|annual(?:ly)?|subscription)$/i;
const DYNAMIC_MEMBER = /^(?:is[-_]?)?dynamic(?:[-_]?(?:price|pricing))?$/i;
/** The symbol of a token, not its address. */
const SYMBOL = /^[a-z.]{2,10}$/i;
const WHOLE = /^[0-9]{1,78}$/;
/** No token has more decimals. */
const MAX_DECIMALS = 36;

/** Lists the members that hold a price themselves, such as `price_usd`, as objects that `readStatedPrice` reads. */
export function listFlatPrices(details: JsonObject) {
  if (!isPriceOfOneCall(details)) return [];
  const other = ['currency', 'token', 'asset'].map((name) => details[name]).find(isOtherCurrency);
  return FLAT_PRICE_MEMBERS.flatMap((name) => {
    const amount = details[name];
    // "price_usd" is in dollars in whatever token a buyer pays.
    const [named = other ?? 'USD'] = /usdc?/i.exec(name) ?? [];
    const price = { amount, currency: named.toUpperCase() };
    return amount === undefined ? [] : [{ name, value: amount, price }];
  });
}

/** True for a symbol that names no dollar: "XLM", "sats". */
function isOtherCurrency(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && SYMBOL.test(value) && !/usd/i.test(value);
}

/** False for a price by month ("interval": "month"), and for one that the seller calls dynamic. */
function isPriceOfOneCall(price: JsonObject): boolean {
  return !Object.entries(price)
    .slice(0, MAX_MEMBERS)
    .some(([name, value]) => {
      if (value === true) return DYNAMIC_MEMBER.test(name);
      return typeof value === 'string' && PERIOD_MEMBER.test(name) && PERIOD.test(value.trim());
    });
}

/**
 * Reads `{amount, decimals}` and `{amount, asset}`, which are in base units, and a bare `amount`, which may be in
 * dollars or in base units. `currency` "USD" means dollars. Returns null for another currency or token, for a price that
 * is not that of one call, and without an amount.
 */
export function readStatedPrice(price: JsonObject): StatedPrice | null {
  const { amount: stated, currency = null, decimals } = price;
  if (!isPriceOfOneCall(price)) return null;
  if (currency !== null && !/^USDC?$/i.test(jsonText(currency) ?? '')) return null;
  if (isOtherCurrency(price['token'])) return null;
  const amount = toDollars(stated);
  if (amount === null) return readAtomicPrice(price);
  const asset = jsonText(price['asset']);
  if (!isWhole(stated)) return isOtherCurrency(asset) ? null : { dollars: amount, units: null };
  if (isDecimals(decimals)) {
    return {
      dollars: shiftDown(amount, decimals),
      units: { amount, asset, mayBeDollars: false },
    };
  }
  if (asset !== null) return { dollars: null, units: { amount, asset, mayBeDollars: false } };
  if (jsonText(currency)?.toUpperCase() === 'USD') return { dollars: amount, units: null };
  return { dollars: amount, units: { amount, asset, mayBeDollars: true } };
}

/** Reads a member that is named for base units ("priceAtomic"); null without one. */
export function readAtomicPrice(price: JsonObject): StatedPrice | null {
  const amount = toDollars(UNIT_MEMBERS.map((name) => price[name]).find(isWhole));
  if (amount === null) return null;
  const asset = jsonText(price['asset']);
  return { dollars: null, units: { amount, asset, mayBeDollars: false } };
}

function isWhole(value: JsonValue | undefined): boolean {
  const text = typeof value === 'number' ? parseWrittenAmount(value) : jsonText(value);
  return text !== null && WHOLE.test(text);
}

function isDecimals(value: JsonValue | undefined): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_DECIMALS;
}

/** Divides by a power of ten: ("10000", 6) is "0.01". The appended zero keeps a fraction for 0 decimals. */
function shiftDown(whole: string, decimals: number): string {
  const digits = whole.padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return toDollars(`${digits.slice(0, point)}.${digits.slice(point)}0`) ?? whole;
}

const MAX_CHARS = 100;
const DECIMAL = /^[0-9]+(?:\.[0-9]+)?$/;
const DECIMAL_OR_FRACTION = /^[0-9]*(?:\.[0-9]+)?$/;
const CURRENCY_BEFORE = /^(?:paid\s+)?(?:\$|USDC?\b)\s*/i;
/** "per call" says nothing new: each price is that of one request. "per token" is another price. */
const PER_REQUEST =
  /\s*(?:\/|\bper\b)\s*(?:api )?(?:call|request|req|query|lookup|use|run|invocation|execution|hit)$/i;
const CURRENCY_AFTER = /\s*(?:\$|USDC?)$/i;

/** Converts a decimal to base units ("0.05", 6 → 50000n); null for other text, and for a fraction of a base unit. */
export function toBaseUnits(decimal: string, decimals: number): bigint | null {
  if (decimal.length > MAX_CHARS || !DECIMAL.test(decimal)) return null;
  const [whole = '', fraction = ''] = decimal.split('.');
  const digits = fraction.slice(0, decimals);
  if (/[1-9]/.test(fraction.slice(decimals))) return null;
  return BigInt(whole + digits.padEnd(decimals, '0'));
}

/**
 * Parses a dollar amount to a plain decimal: "$0.010", "0.01 USDC", "$0.01 per call" and 0.01 give "0.01". Returns null
 * for other values (other currencies, ranges, negative numbers).
 */
export function toDollars(value: JsonValue | undefined): string | null {
  const amount = parseWrittenAmount(value);
  if (amount === null) return null;
  const [whole = '', fraction = ''] = amount.split('.');
  const trimmedWhole = whole.replace(/^0+/, '') || '0';
  const trimmedFraction = fraction.replace(/0+$/, '');
  return trimmedFraction === '' ? trimmedWhole : `${trimmedWhole}.${trimmedFraction}`;
}

/** Like `toDollars`, but keeps the zeroes of the document: "$0.050000" → "0.050000". */
export function parseWrittenAmount(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return toPlainNumber(value);
  if (typeof value !== 'string' || value.length > MAX_CHARS) return null;
  const amount = value
    .trim()
    .replace(PER_REQUEST, '')
    .replace(CURRENCY_BEFORE, '')
    .replace(CURRENCY_AFTER, '');
  if (amount === '' || !DECIMAL_OR_FRACTION.test(amount)) return null;
  return amount.startsWith('.') ? `0${amount}` : amount;
}

/** Writes a number without an exponent. JavaScript writes small numbers with an exponent (1e-7). */
function toPlainNumber(value: number): string | null {
  if (!Number.isFinite(value) || value < 0 || value >= 1e21) return null;
  const text = String(value);
  return text.includes('e') ? value.toFixed(20) : text;
}

/** Sign of the price that an object names; null if it names no price. */
export type PriceSign = 'positive' | 'zero' | null;

/** Matches "price", "price_usd", "priceUsd", "amountAtomic", "maxAmountRequired", "minPrice", "pricing", "offers". */
const PRICE_MEMBER =
  /^(?:(?:min|max|base|unit|fixed)[-_]?)?(?:price|pricing|amount|cost|fee)s?(?:[-_]?(?:usdc?|micros?|atomic|units?|raw|dollars?|cents|required|range|human|display|min|max|per[-_]?(?:call|request)))*$/i;
const PRICE_CONTAINER = /^(?:x-payment-info|x402|payment|payment_?info|offers|accepts)$/i;
/** Members of a price object that hold its amount. */
const AMOUNT_MEMBER = /^(?:value|min|max|minimum|maximum|usdc?|atomic|per[-_]?(?:call|request))$/i;
/** "$0.00", "0 USDC", "free (beta)" */
const NOTHING =
  /^(?:[^0-9]*0+(?:\.0+)?[^0-9]*|(?:free|none|no charge|gratis|n\/a)(?![\w-])[^0-9]*)$/i;
/** Members that say without a price that nothing is asked: `free: true`, `paid: false`, `tier: "free"`. */
const FREE_MEMBER = /^(?:is[-_]?)?free$/i;
const PAID_MEMBER = /^(?:(?:is[-_]?)?paid|(?:requires?[-_]?)?payment(?:[-_]?required)?)$/i;
const TIER_MEMBER = /^(?:tier|plan|access|mode|scheme|model|type)$/i;
const MAX_DEPTH = 4;
const MAX_MEMBERS = 50;

/** Reads the members of a manifest's entry, or of x-payment-info. Members that say "free" count only without a price. */
export function findPriceSign(details: JsonObject): PriceSign {
  return readMembersSign(details, false, 0) ?? (isCalledFree(details) ? 'zero' : null);
}

function isCalledFree(details: JsonObject): boolean {
  for (const name in details) {
    const value = details[name];
    if (value === true && FREE_MEMBER.test(name)) return true;
    if (value === false && PAID_MEMBER.test(name)) return true;
    if (typeof value === 'string' && /^free$/i.test(value) && TIER_MEMBER.test(name)) return true;
  }
  return false;
}

/** `isPrice` is true in the value of a price member, where "value" or "max" is an amount too. */
function readMembersSign(value: JsonObject, isPrice: boolean, depth: number): PriceSign {
  // A price that is switched off is asked of nobody.
  if (value['enabled'] === false) return 'zero';
  let sign: PriceSign = null;
  let count = 0;
  for (const name in value) {
    count += 1;
    if (count > MAX_MEMBERS) break;
    const isContainer = PRICE_CONTAINER.test(name);
    const isAmount = PRICE_MEMBER.test(name) || (isPrice && AMOUNT_MEMBER.test(name));
    if (!isAmount && !isContainer) continue;
    const memberSign = readValueSign(value[name], isAmount, depth + 1);
    if (memberSign === 'positive') return 'positive';
    sign ??= memberSign;
  }
  return sign;
}

function readValueSign(value: JsonValue | undefined, isPrice: boolean, depth: number): PriceSign {
  if (depth > MAX_DEPTH) return null;
  if (isJsonList(value)) {
    const signs = value
      .slice(0, MAX_MEMBERS)
      .map((item) => readValueSign(item, isPrice, depth + 1));
    return signs.find((sign) => sign === 'positive') ?? signs.find((sign) => sign !== null) ?? null;
  }
  if (isJsonObject(value)) {
    return readMembersSign(value, isPrice, depth) ?? (isCalledFree(value) ? 'zero' : null);
  }
  if (!isPrice) return null;
  if (typeof value === 'number') return value === 0 ? 'zero' : 'positive';
  if (typeof value !== 'string' || value.trim() === '') return null;
  return NOTHING.test(value.trim().slice(0, MAX_CHARS)) ? 'zero' : 'positive';
}

/** Reads x-payment-info, which is a price itself if it is a number or a text. */
export function findPaymentInfoSign(value: JsonValue | undefined): PriceSign {
  return isJsonObject(value) ? findPriceSign(value) : readValueSign(value, true, 0);
}
