import type { JsonObject, JsonValue } from '../../model/json.ts';
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
