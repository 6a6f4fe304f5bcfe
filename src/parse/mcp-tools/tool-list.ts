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
import { sampleArguments } from './sample-arguments.ts';

export type PaidTool = {
  readonly name: string;
  readonly price: PaidTerms['price'];
  readonly arguments: JsonObject;
};

export type ToolPage = {
  /** Paid tools that are annotated as read-only and may be called. */
  readonly callable: readonly PaidTool[];
  /** Number of paid tools that are not annotated as read-only. */
  readonly uncalled: number;
  readonly listed: number;
  readonly nextCursor: string | null;
};

const MAX_TOOLS = 2_000;
const MAX_NAME_CHARS = 128;
const MAX_CURSOR_CHARS = 1_024;

export function readToolPage(result: JsonObject): ToolPage {
  const tools = jsonList(result['tools']).slice(0, MAX_TOOLS).map(jsonObject);
  const paid = tools.flatMap((tool) => {
    const { isPaid, price } = paidTerms(tool);
    const name = jsonText(tool['name']);
    if (!isPaid || name === null || name.length > MAX_NAME_CHARS) return [];
    const isReadOnly = jsonObject(tool['annotations'])['readOnlyHint'] === true;
    return [{ name, price, isReadOnly, schema: tool['inputSchema'] }];
  });
  const readOnly = paid.filter(({ isReadOnly }) => isReadOnly);
  const cursor = jsonText(result['nextCursor']);
  return {
    callable: readOnly.map(({ name, price, schema }) => {
      return { name, price, arguments: sampleArguments(schema) };
    }),
    uncalled: paid.length - readOnly.length,
    listed: tools.length,
    nextCursor: cursor !== null && cursor.length <= MAX_CURSOR_CHARS ? cursor : null,
  };
}

const EVENT_STREAM = /^text\/event-stream\b/i;
const LINE_END = /\r\n|\r|\n/;

/** Finds the JSON-RPC response to this id in a JSON body or an event stream; null when there is none. */
export function rpcResponse(answer: HttpData, id: number): JsonObject | null {
  if (!EVENT_STREAM.test(headerValue(answer, 'content-type') ?? '')) {
    return responseIn(answer.body, id);
  }
  for (const data of eventsOf(answer.body)) {
    const response = responseIn(data, id);
    if (response !== null) return response;
  }
  return null;
}

function responseIn(text: string, id: number): JsonObject | null {
  const read = parseJson(text);
  if (!read.ok || !isJsonObject(read.value)) return null;
  // Servers omit the id when they refuse a request before parsing it.
  const isAnswer = read.value['id'] === id || (read.value['id'] ?? null) === null;
  const { result, error } = read.value;
  return isAnswer && (isJsonObject(result) || isJsonObject(error)) ? read.value : null;
}

/** Yields the data of server-sent events (HTML standard, 9.2.6), an unfinished last one included. */
function* eventsOf(body: string): Generator<string> {
  let data: string[] = [];
  for (const line of body.split(LINE_END)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
    if (line !== '' || data.length === 0) continue;
    yield data.join('\n');
    data = [];
  }
  if (data.length > 0) yield data.join('\n');
}

/**
 * Reads from tools/list whether an MCP tool is paid, and its price. Neither x402 nor MCP defines a member
 * for that; sellers use these members, and the SDKs' examples use the description.
 */
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
