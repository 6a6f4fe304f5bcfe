import type { JsonObject, JsonValue } from '../model/json.ts';
import { StoreError } from './errors.ts';

/** The most that one value may take, so that it fits one MongoDB document with room to spare. */
const STORED_JSON_MAX_BYTES = 8 * 1024 * 1024;

export function toStoredJson(value: JsonValue, what: string): string {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > STORED_JSON_MAX_BYTES) {
    const message = `${what} has ${bytes} bytes of JSON, at most ${STORED_JSON_MAX_BYTES} are stored; store less of it`;
    throw new StoreError('too_large', message);
  }
  return text;
}

/** @throws StoreError `corrupt` */
export function fromStoredJson(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch (cause) {
    throw new StoreError('corrupt', 'a stored value is not JSON; restore the store from a backup', {
      cause,
    });
  }
}

/** @throws StoreError `corrupt` */
export function objectFromStoredJson(text: string): JsonObject {
  const value = fromStoredJson(text);
  if (isJsonObject(value)) return value;
  throw new StoreError('corrupt', 'a stored value is no object; restore the store from a backup');
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** @throws StoreError `corrupt` */
export function headersFromJson(text: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(objectFromStoredJson(text))) {
    if (typeof value !== 'string') {
      throw new StoreError('corrupt', `the stored header ${name} is no string; restore a backup`);
    }
    headers[name] = value;
  }
  return headers;
}
