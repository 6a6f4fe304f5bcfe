/** Tells if the members of an object name a price, and if that price is nothing. */
import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '../json/json.ts';

/** Sign of the price that an object names; null if it names no price. */
export type PriceSign = 'positive' | 'zero' | null;

/** Matches "price", "price_usd", "priceUsd", "amountAtomic", "maxAmountRequired", "minPrice", "pricing", "offers". */
const PRICE_MEMBER =
  /^(?:(?:min|max|base|unit|fixed)[-_]?)?(?:price|pricing|amount|cost|fee)s?(?:[-_]?(?:usdc?|atomic|units?|raw|dollars?|cents|required|range|min|max|per[-_]?(?:call|request)))*$/i;
const PRICE_CONTAINER = /^(?:x-payment-info|x402|payment|payment_?info|offers|accepts)$/i;
/** Members of a price object that hold its amount. */
const AMOUNT_MEMBER = /^(?:value|min|max|minimum|maximum|usdc?|atomic)$/i;
/** "$0.00", "0 USDC", "free (beta)" */
const NOTHING =
  /^(?:[^0-9]*0+(?:\.0+)?[^0-9]*|(?:free|none|no charge|gratis|n\/a)(?![\w-])[^0-9]*)$/i;
/** Members that say without a price that nothing is asked: `free: true`, `paid: false`, `tier: "free"`. */
const FREE_MEMBER = /^(?:is[-_]?)?free$/i;
const PAID_MEMBER = /^(?:(?:is[-_]?)?paid|(?:requires?[-_]?)?payment(?:[-_]?required)?)$/i;
const TIER_MEMBER = /^(?:tier|plan|access)$/i;
const MAX_DEPTH = 4;
const MAX_MEMBERS = 50;

/** Reads the members of a manifest's entry, or of x-payment-info. Members that say "free" count only without a price. */
export function findPriceSign(details: JsonObject): PriceSign {
  return readMembers(details, false, 0) ?? (isCalledFree(details) ? 'zero' : null);
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
function readMembers(value: JsonObject, isPrice: boolean, depth: number): PriceSign {
  if (isPrice && value['mode'] === 'free') return 'zero';
  let sign: PriceSign = null;
  let count = 0;
  for (const name in value) {
    count += 1;
    if (count > MAX_MEMBERS) break;
    const isContainer = PRICE_CONTAINER.test(name);
    const isAmount = PRICE_MEMBER.test(name) || (isPrice && AMOUNT_MEMBER.test(name));
    if (!isAmount && !isContainer) continue;
    const inner = readValue(value[name], isAmount, depth + 1);
    if (inner === 'positive') return 'positive';
    sign ??= inner;
  }
  return sign;
}

function readValue(value: JsonValue | undefined, isPrice: boolean, depth: number): PriceSign {
  if (depth > MAX_DEPTH) return null;
  if (isJsonList(value)) {
    const signs = value.slice(0, MAX_MEMBERS).map((item) => readValue(item, isPrice, depth + 1));
    return signs.find((sign) => sign === 'positive') ?? signs.find((sign) => sign !== null) ?? null;
  }
  if (isJsonObject(value)) return readMembers(value, isPrice, depth);
  if (!isPrice) return null;
  if (typeof value === 'number') return value === 0 ? 'zero' : 'positive';
  if (typeof value !== 'string' || value.trim() === '') return null;
  return NOTHING.test(value.trim().slice(0, 100)) ? 'zero' : 'positive';
}

/** Reads x-payment-info, which is a price itself if it is a number or a text. */
export function findPaymentInfoSign(value: JsonValue | undefined): PriceSign {
  return isJsonObject(value) ? findPriceSign(value) : readValue(value, true, 0);
}
