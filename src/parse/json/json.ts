import type { JsonObject, JsonValue } from '../../model/json.ts';
import { cleanText, quoteExact } from '../text/text.ts';
import { refuseJson } from './refuse-json.ts';

export type { JsonObject, JsonValue } from '../../model/json.ts';

export type JsonReading =
  | { readonly ok: true; readonly value: JsonValue }
  /** `detail` is safe for evidence: "not JSON at character 12", "deeper than 64", "over 50000 nodes". */
  | { readonly ok: false; readonly detail: string };

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Depth and size are measured on the text, because `JSON.parse` accepts five million nested lists and
 * returns a value too deep for any recursion. A byte order mark is skipped.
 */
export function parseJson(text: string): JsonReading {
  const body = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  const refused = refuseJson(body);
  if (refused !== null) return { ok: false, detail: refused };
  const value: JsonValue = JSON.parse(body);
  return { ok: true, value };
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Returns an empty object for any other value. */
export function jsonObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns an empty list for any other value. */
export function jsonList(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonList(value) ? value : [];
}

/** Returns null for anything but a non-empty text. */
export function jsonText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * Freezes a value and everything in it, and returns it. It does not recurse, because nesting depth comes
 * from documents. A frozen value counts as deeply frozen, so shared parts are visited once.
 */
export function deepFreeze<T>(value: T): T {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next)) waiting.push(member);
  }
  return value;
}

const MAX_CHARS = 80;

/**
 * Formats a JSON value for evidence: short, one line, unseen characters as escapes, "missing" for an
 * absent member. Cost is bounded by `maxChars`, not by the value.
 */
export function showJson(value: JsonValue | undefined, maxChars: number = MAX_CHARS): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string') return quoteExact(value, maxChars);
  return cleanText(writeJson(value, maxChars), maxChars);
}

/** Formats an address for evidence; blanks are escaped, because an address has none. */
export function showAddress(value: JsonValue | undefined): string {
  return showJson(value).replaceAll(' ', '\\u0020');
}

/**
 * Converts a JSON value to a text for comparison: texts unchanged, others as `showJson` has them.
 * `String(value)` would call `toString`, which an origin may have written: `{"toString": 1}`.
 */
export function jsonAsText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : showJson(value);
}

/** Stops after `budget` characters, enough to know that the rest is cut. */
function writeJson(value: JsonValue, budget: number): string {
  if (typeof value === 'string') return quoteExact(value, Math.max(budget, 1));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (text.length > 1) text += ',';
    if (text.length >= budget) return `${text}…`;
    if (!isList) text += `${quoteExact(key, budget)}:`;
    text += writeJson(readMember(value, key), budget - text.length);
  }
  return text + (isList ? ']' : '}');
}

function readMember(value: object, key: string): JsonValue {
  const member: JsonValue | undefined = Reflect.get(value, key);
  return member ?? null;
}
