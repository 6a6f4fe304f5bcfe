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
  jsonObject,
  jsonText,
} from '../json/json.ts';
import {
  findPaymentInfoSign,
  listFlatPrices,
  parseWrittenAmount,
  readAtomicPrice,
  readStatedPrice,
  type StatedUnits,
} from '../text/stated-price.ts';

export type PriceDeclaration =
  | {
      readonly kind: 'fixed';
      readonly amount: string;
      readonly currency: string;
      readonly pointer: string;
      /** The amount in base units, if members beside it say that it may be in base units. */
      readonly units?: StatedUnits;
    }
  | {
      readonly kind: 'dynamic';
      readonly min: string | null;
      readonly max: string | null;
      readonly currency: string;
      readonly pointer: string;
    }
  /** A price of MPP, in base units of the asset. The amount is null if it has another unit, or if offers differ. */
  | { readonly kind: 'mpp'; readonly amount: string | null; readonly pointer: string }
  /** A form of earlier versions. Its `amount` is null if it cannot be compared with a price. */
  | {
      readonly kind: 'legacy';
      readonly amount: string | null;
      readonly pointer: string;
      /** The price in base units, if the form states it so or may state it so. */
      readonly units?: StatedUnits;
      /** Bounds of a dynamic price in the earlier form (`minPrice`, `maxPrice`). */
      readonly range?: { readonly min: string | null; readonly max: string | null };
    };

export type Protocols = {
  /** Form of `protocols` in x-payment-info. Objects are the current form, and strings the legacy form. */
  readonly protocols: 'objects' | 'strings' | 'missing';
  readonly protocolNames: readonly string[];
};

const MAX_LIST_ITEMS = 50;
/** An MPP amount with a currency code is in cents, not in base units of a token. */
const CURRENCY_CODE = /^[a-z]{3}$/i;

/** Members in which sellers state a price beside x-payment-info: "x-price-usd", "x-402", "x-payment-required". */
const PRICE_EXTENSION =
  /^x-(?:[a-z0-9]{1,20}-){0,4}(?:price|pricing|payment|x?402)(?:-(?:usdc?|atomic|required))?$/i;

/** Names of members that sell a call. A price in "x-price" may be that of goods that a POST orders. */
const SELLS_CALLS = /payment|402|usdc/i;

/** The payment information of an operation, and its JSON pointer. */
type PaymentInfo = {
  readonly info: JsonValue | undefined;
  readonly pointer: string;
  /** False if the name of its member does not say that the call is sold. */
  readonly sellsCall: boolean;
};

type Declaring = { readonly declaring: JsonObject; readonly pointer: string };

/**
 * Finds x-payment-info of the operation, or else a price in another member, or else x-payment-info of the path item. An
 * operation that says that it is free does not inherit the last. A `null` declares nothing, like a missing member.
 */
export function findPaymentInfo(
  operation: Declaring,
  pathItem: Declaring,
  saysFree: boolean,
): PaymentInfo {
  const { declaring, pointer } = operation;
  const own = {
    info: declaring['x-payment-info'] ?? undefined,
    pointer: `${pointer}/x-payment-info`,
    sellsCall: true,
  };
  if (own.info !== undefined) return own;
  const members = Object.keys(declaring).filter(
    (name) =>
      PRICE_EXTENSION.test(name) &&
      (typeof declaring[name] === 'boolean' || findPaymentInfoSign(declaring[name]) !== null),
  );
  // "x-payment-required": false decides. A price says more than true.
  const member =
    members.find((name) => declaring[name] === false) ??
    members.find((name) => declaring[name] !== true) ??
    members[0];
  if (member !== undefined) {
    const isX402 = jsonObject(declaring['x-payment'])['protocol'] === 'x402';
    const sellsCall = isX402 || members.some((name) => SELLS_CALLS.test(name));
    return { info: declaring[member], pointer: `${pointer}/${member}`, sellsCall };
  }
  const shared = pathItem.declaring['x-payment-info'] ?? undefined;
  if (saysFree || shared === undefined) return own;
  return { info: shared, pointer: `${pathItem.pointer}/x-payment-info`, sellsCall: true };
}

/** Reads the price in payment information; null if it declares no readable price. */
export function readPrice({
  info,
  pointer,
}: Pick<PaymentInfo, 'info' | 'pointer'>): PriceDeclaration | null {
  if (!isJsonObject(info)) return toFlatPrice(info, pointer);
  if (isJsonObject(info['price'])) return readStructuredPrice(info['price'], `${pointer}/price`);
  return (
    readFlatMember(info, pointer) ??
    readMppPrice(info, pointer) ??
    readLegacyPrice(info, pointer) ??
    readFirstOffer(info, pointer)
  );
}

export function readProtocols(info: JsonValue | undefined): Protocols {
  const entries = isJsonObject(info) ? jsonList(info['protocols']).slice(0, MAX_LIST_ITEMS) : [];
  const protocolNames = entries.flatMap((entry) => {
    if (typeof entry === 'string') return [entry];
    return isJsonObject(entry) ? Object.keys(entry).slice(0, MAX_LIST_ITEMS) : [];
  });
  if (entries.length === 0) return { protocols: 'missing', protocolNames };
  const isStructured = entries.every((entry) => isJsonObject(entry));
  return { protocols: isStructured ? 'objects' : 'strings', protocolNames };
}

function readStructuredPrice(price: JsonObject, pointer: string): PriceDeclaration | null {
  const currency = jsonText(price['currency']) ?? 'USD';
  if (price['mode'] === 'dynamic') {
    const [min, max] = [toWrittenText(price['min']), toWrittenText(price['max'])];
    return { kind: 'dynamic', min, max, currency, pointer };
  }
  if (price['mode'] === 'fixed') {
    const amount = toWrittenText(price['amount']);
    if (amount === null) return null;
    const units = readFixedUnits(price);
    return { kind: 'fixed', amount, currency, pointer, ...(units === null ? {} : { units }) };
  }
  if (price['mode'] === 'free') return null;
  return toLegacyPrice(price, pointer);
}

/** Indexes read a fixed price as dollars, whatever stands beside it. The seller may mean base units. */
function readFixedUnits(price: JsonObject): StatedUnits | null {
  const isBare = price['decimals'] === undefined && price['asset'] === undefined;
  const units = isBare ? null : (readStatedPrice(price)?.units ?? null);
  return units === null ? null : { ...units, mayBeDollars: true };
}

/** `pointer` names the place of the price in evidence. */
function toLegacyPrice(price: JsonObject, pointer: string): PriceDeclaration | null {
  const stated = readStatedPrice(price);
  if (stated !== null) {
    const { dollars, units } = stated;
    const isInUnits = units?.mayBeDollars === false;
    // Evidence quotes an amount in dollars as the document writes it.
    const amount = isInUnits ? dollars : (parseWrittenAmount(price['amount']) ?? dollars);
    return { kind: 'legacy', amount, pointer, ...(units === null ? {} : { units }) };
  }
  // A text that is not an amount, or an amount in another currency.
  const hasAmount = toWrittenText(price['amount']) !== null;
  return hasAmount ? { kind: 'legacy', amount: null, pointer } : null;
}

function readMppPrice(info: JsonObject, infoPointer: string): PriceDeclaration | null {
  if (isJsonList(info['offers'])) {
    const offers = info['offers'].slice(0, MAX_LIST_ITEMS).filter(isJsonObject);
    const amounts = new Set(offers.map(readMppAmount));
    const [amount = null] = amounts;
    // Offers in several tokens with different amounts give no single price to compare.
    return {
      kind: 'mpp',
      amount: amounts.size === 1 ? amount : null,
      pointer: `${infoPointer}/offers`,
    };
  }
  if (typeof info['intent'] !== 'string') return null;
  return { kind: 'mpp', amount: readMppAmount(info), pointer: `${infoPointer}/amount` };
}

function readMppAmount(offer: JsonObject): string | null {
  const { amount, currency } = offer;
  if (typeof currency === 'string' && CURRENCY_CODE.test(currency)) return null;
  return typeof amount === 'string' && /^[0-9]{1,78}$/.test(amount) ? amount : null;
}

/**
 * Reads the flat forms, which AgentCash still accepts: `price` beside `pricingMode`, or a member with the currency in
 * its name, such as `price_usd`.
 */
function readFlatMember(info: JsonObject, infoPointer: string): PriceDeclaration | null {
  for (const { name, value, price } of listFlatPrices(info)) {
    const pointer = `${infoPointer}/${name}`;
    // A whole amount of USDC may be in base units. Dollars have none, and another currency cannot be compared.
    const isInDollars = price.currency === 'USD';
    const declared = isInDollars ? toFlatPrice(value, pointer) : toLegacyPrice(price, pointer);
    if (declared !== null) return declared;
  }
  return null;
}

function readLegacyPrice(info: JsonObject, infoPointer: string): PriceDeclaration | null {
  const [min, max] = [parseWrittenAmount(info['minPrice']), parseWrittenAmount(info['maxPrice'])];
  if (min === null && max === null && info['pricingMode'] === undefined) {
    // A price in base units may have another member than `amount`.
    const isAtomic = readAtomicPrice(info) !== null;
    return toLegacyPrice(info, isAtomic ? infoPointer : `${infoPointer}/amount`);
  }
  return { kind: 'legacy', amount: null, pointer: infoPointer, range: { min, max } };
}

/** Reads the amount of the first offer, in base units, if the information copies the `accepts` of the challenge. */
function readFirstOffer(info: JsonObject, infoPointer: string): PriceDeclaration | null {
  const { amount, maxAmountRequired, asset = null } = jsonObject(jsonList(info['accepts'])[0]);
  const stated = amount ?? maxAmountRequired;
  return stated === undefined
    ? null
    : toLegacyPrice({ amount: stated, asset }, `${infoPointer}/accepts/0`);
}

function toFlatPrice(price: JsonValue | undefined, pointer: string): PriceDeclaration | null {
  if (typeof price !== 'string' && typeof price !== 'number') return null;
  return { kind: 'legacy', amount: parseWrittenAmount(price), pointer };
}

/** Returns a text that is not an amount unchanged, because a check quotes it. */
function toWrittenText(value: JsonValue | undefined): string | null {
  return parseWrittenAmount(value) ?? jsonText(value);
}
