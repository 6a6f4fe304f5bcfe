/**
 * Reads from tools/list whether an MCP tool is paid, and its price. Neither x402 nor MCP defines a member
 * for that; sellers use these members, and the SDKs' examples use the description.
 */
import { isJsonObject, type JsonObject, type JsonValue, jsonObject } from '../json/json.ts';

export type PaidTerms = {
  readonly isPaid: boolean;
  /** Decimal dollars, and the member that states them; null when none does. */
  readonly price: { readonly dollars: string; readonly member: string } | null;
};

/** Prefixes of `_meta` keys: Cloudflare's agents, the Laravel package, and both transports. */
const PAID_KEY = /^(?:agents-x402|x402|org\.x402|x402\.org)(?:\/|$)/;
const DOLLARS = /^\$?([0-9]{1,12}(?:\.[0-9]{1,12})?)$/;
/** Matches "Requires payment of $0.001.", "Paid per run with x402", "costs $0.01". */
const PAID_WORDS =
  /\bx402\b|\brequires? (?:a )?payment\b|\bpayment required\b|\bpaid\b|\bcosts? \$|\$ ?[0-9]/i;
const FREE_WORDS = /\bfree\b|\bno payment\b|\bwithout (?:a )?payment\b|\bnot? paid\b|\bunpaid\b/i;
const MAX_DESCRIPTION_CHARS = 4_096;

export function paidTerms(tool: JsonObject): PaidTerms {
  const meta = jsonObject(tool['_meta']);
  const annotations = jsonObject(tool['annotations']);
  const marks = [
    ...Object.entries(meta).filter(([name]) => PAID_KEY.test(name)),
    ...['x402', 'payment', 'pricing'].map((name) => [name, tool[name]] as const),
    ['paymentHint', annotations['paymentHint']] as const,
  ].filter(([, value]) => value !== undefined && value !== null);
  const saysFree = marks.some(([, value]) => isDenial(value));
  const saysPaid = marks.some(([, value]) => !isDenial(value));
  const isPaid = saysPaid ? !saysFree : !saysFree && isDescribedAsPaid(tool['description']);
  return { isPaid, price: isPaid ? statedPrice(meta, annotations) : null };
}

/** Matches false, and an object that disables itself: `{ "enabled": false }`. */
function isDenial(value: JsonValue | undefined): boolean {
  if (value === false) return true;
  if (!isJsonObject(value)) return false;
  return ['paymentRequired', 'required', 'enabled', 'paid'].some((name) => value[name] === false);
}

function isDescribedAsPaid(description: JsonValue | undefined): boolean {
  if (typeof description !== 'string') return false;
  const read = description.slice(0, MAX_DESCRIPTION_CHARS);
  return PAID_WORDS.test(read) && !FREE_WORDS.test(read);
}

/** Only members with a unit in their name count; other amounts may be base units. */
function statedPrice(meta: JsonObject, annotations: JsonObject): PaidTerms['price'] {
  const candidates: readonly (readonly [string, JsonValue | undefined])[] = [
    ['/_meta/agents-x402~1priceUSD', meta['agents-x402/priceUSD']],
    ['/_meta/x402~1priceUSD', meta['x402/priceUSD']],
    ['/_meta/x402/priceUSD', jsonObject(meta['x402'])['priceUSD']],
    ['/annotations/paymentPriceUSD', annotations['paymentPriceUSD']],
  ];
  for (const [member, value] of candidates) {
    const text = typeof value === 'number' ? decimalText(value) : value;
    const [, dollars] = typeof text === 'string' ? (DOLLARS.exec(text) ?? []) : [];
    if (dollars !== undefined) return { dollars, member };
  }
  return null;
}

/** Writes 1e-7 as "0.0000001". Twelve places exceed the decimals of the known assets. */
function decimalText(value: number): string {
  return value.toFixed(12).replace(/\.?0+$/, '');
}
