import type { JsonObject, JsonValue } from '../../model/json.ts';
import { refuseJson } from './refuse-json.ts';

export type { JsonObject, JsonValue } from '../../model/json.ts';

export type JsonReading =
  | { readonly ok: true; readonly value: JsonValue }
  /** `detail` is fit for evidence: "not JSON at character 12", "deeper than 64", "over 50000 nodes". */
  | { readonly ok: false; readonly detail: string };

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Depth and size are measured on the text, because `JSON.parse` takes five million nested lists
 * and leaves a value that no recursion survives. A byte order mark is tolerated.
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

/** The members of an object; none where the value is something else. */
export function jsonObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The items of a list; none where the value is something else. */
export function jsonList(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonList(value) ? value : [];
}

/** A text that says something; null for anything else, the empty text included. */
export function jsonText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
