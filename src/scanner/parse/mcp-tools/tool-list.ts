import type { HttpData } from '../../model/observation.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
  parseJson,
} from '../json/json.ts';
import { headerValue } from '../text/http-header.ts';
import { toDollars } from '../text/stated-price.ts';
import { toSampleArguments } from './sample-arguments.ts';

export type PaidTool = {
  readonly name: string;
  readonly price: PaidTerms['price'];
  readonly arguments: JsonObject;
};

export type ToolPage = {
  /** The paid tools that are annotated as read-only. The scan calls only these. */
  readonly callable: readonly PaidTool[];
  /** Number of paid tools that are not annotated as read-only. */
  readonly uncalledCount: number;
  /** Number of all tools on the page, paid or not. */
  readonly listedCount: number;
  readonly nextCursor: string | null;
};

const MAX_TOOLS = 2_000;
const MAX_NAME_CHARS = 128;
const MAX_CURSOR_CHARS = 1_024;

/** Reads the result of one `tools/list`, which may be one page of several. */
export function readToolPage(result: JsonObject): ToolPage {
  const tools = jsonList(result['tools']).slice(0, MAX_TOOLS).map(jsonObject);
  const paidTools = tools.flatMap((tool) => {
    const { isPaid, price } = readPaidTerms(tool);
    const name = jsonText(tool['name']);
    if (!isPaid || name === null || name.length > MAX_NAME_CHARS) return [];
    const isReadOnly = jsonObject(tool['annotations'])['readOnlyHint'] === true;
    return [{ name, price, isReadOnly, schema: tool['inputSchema'] }];
  });
  const readOnly = paidTools.filter(({ isReadOnly }) => isReadOnly);
  const cursor = jsonText(result['nextCursor']);
  return {
    callable: readOnly.map(({ name, price, schema }) => {
      return { name, price, arguments: toSampleArguments(schema) };
    }),
    uncalledCount: paidTools.length - readOnly.length,
    listedCount: tools.length,
    nextCursor: cursor !== null && cursor.length <= MAX_CURSOR_CHARS ? cursor : null,
  };
}

/**
 * The payment that an entry of tools/list declares. Neither x402 nor MCP defines a member for this declaration. Sellers
 * use the members below. Examples of SDKs state the price only in the description.
 */
type PaidTerms = {
  readonly isPaid: boolean;
  /** Decimal dollars, and the pointer of the member that states them; null if no member does. */
  readonly price: { readonly dollars: string; readonly member: string } | null;
};

/** Keys of `_meta` that Cloudflare's agents, the Laravel package, and the transports of x402 use. */
const PAYMENT_KEY = /^(?:agents-x402|x402|org\.x402|x402\.org)(?:\/|$)/;
const DOLLAR_AMOUNT = /^\$?([0-9]{1,12}(?:\.[0-9]{1,12})?)$/;
/** Matches "Requires payment of $0.001.", "Paid per run with x402", "costs $0.01". */
const PAID_WORDS =
  /\bx402\b|\brequires? (?:a )?payment\b|\bpayment required\b|\bpaid\b|\bcosts? \$|\$ ?[0-9]/i;
const FREE_WORDS = /\bfree\b|\bno payment\b|\bwithout (?:a )?payment\b|\bnot? paid\b|\bunpaid\b/i;
const MAX_DESCRIPTION_CHARS = 4_096;

function readPaidTerms(tool: JsonObject): PaidTerms {
  const meta = jsonObject(tool['_meta']);
  const annotations = jsonObject(tool['annotations']);
  const declarations = [
    ...Object.entries(meta).filter(([name]) => PAYMENT_KEY.test(name)),
    ...['x402', 'payment', 'pricing'].map((name) => [name, tool[name]] as const),
    ['paymentHint', annotations['paymentHint']] as const,
  ].filter(([, value]) => value !== undefined && value !== null);
  const saysFree = declarations.some(([, value]) => isFreeDeclaration(value));
  const saysPaid = declarations.some(([, value]) => !isFreeDeclaration(value));
  const isPaid = !saysFree && (saysPaid || isDescribedAsPaid(tool['description']));
  return { isPaid, price: isPaid ? findPrice(tool, meta, annotations) : null };
}

/** Returns true for the value `false`, and for an object such as `{ "enabled": false }`. */
function isFreeDeclaration(value: JsonValue | undefined): boolean {
  if (value === false) return true;
  if (!isJsonObject(value)) return false;
  return ['paymentRequired', 'required', 'enabled', 'paid'].some((name) => value[name] === false);
}

function isDescribedAsPaid(description: JsonValue | undefined): boolean {
  if (typeof description !== 'string') return false;
  const text = description.slice(0, MAX_DESCRIPTION_CHARS);
  return PAID_WORDS.test(text) && !FREE_WORDS.test(text);
}

/** Reads members whose names or texts name the unit USD. Any other amount may be in base units. */
function findPrice(
  tool: JsonObject,
  meta: JsonObject,
  annotations: JsonObject,
): PaidTerms['price'] {
  const namedInUsd: readonly (readonly [string, JsonValue | undefined])[] = [
    ['/_meta/agents-x402~1priceUSD', meta['agents-x402/priceUSD']],
    ['/_meta/x402~1priceUSD', meta['x402/priceUSD']],
    ['/_meta/x402/priceUSD', jsonObject(meta['x402'])['priceUSD']],
    ['/annotations/paymentPriceUSD', annotations['paymentPriceUSD']],
  ];
  for (const [member, value] of namedInUsd) {
    const text = typeof value === 'number' ? toDecimal(value) : value;
    const [, dollars] = typeof text === 'string' ? (DOLLAR_AMOUNT.exec(text) ?? []) : [];
    if (dollars !== undefined) return { dollars, member };
  }
  const withoutUnit: typeof namedInUsd = [
    ['/_meta/x402/price', jsonObject(meta['x402'])['price']],
    ['/_meta/x402~1price', meta['x402/price']],
    ['/x402/price', jsonObject(tool['x402'])['price']],
    ['/payment/price', jsonObject(tool['payment'])['price']],
    ['/pricing/price', jsonObject(tool['pricing'])['price']],
  ];
  for (const [member, value] of withoutUnit) {
    const dollars = isInDollars(value) ? toDollars(value) : null;
    if (dollars !== null) return { dollars, member };
  }
  return null;
}

function isInDollars(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && /\$|USD/i.test(value);
}

/** Writes 1e-7 as "0.0000001", with at most the twelve decimals that DOLLAR_AMOUNT accepts. */
function toDecimal(value: number): string {
  return value.toFixed(12).replace(/\.?0+$/, '');
}

const EVENT_STREAM_TYPE = /^text\/event-stream\b/i;
const LINE_END = /\r\n|\r|\n/;

/** Finds the JSON-RPC response with this id in a JSON body or an event stream; null if there is no such response. */
export function findRpcResponse(answer: HttpData, id: number): JsonObject | null {
  const isStream = EVENT_STREAM_TYPE.test(headerValue(answer, 'content-type') ?? '');
  for (const text of isStream ? readEvents(answer.body) : [answer.body]) {
    const response = parseRpcResponse(text, id);
    if (response !== null) return response;
  }
  return null;
}

function parseRpcResponse(text: string, id: number): JsonObject | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  const message = parsed.value;
  // Servers omit the id if they refuse a request before they parse it.
  const hasExpectedId = message['id'] === id || (message['id'] ?? null) === null;
  const isResponse = isJsonObject(message['result']) || isJsonObject(message['error']);
  return hasExpectedId && isResponse ? message : null;
}

/** Yields the data of each server-sent event (HTML standard, 9.2.6). The last event may be unfinished. */
function* readEvents(body: string): Generator<string> {
  let data: string[] = [];
  for (const line of body.split(LINE_END)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
    if (line !== '' || data.length === 0) continue;
    yield data.join('\n');
    data = [];
  }
  if (data.length > 0) yield data.join('\n');
}
