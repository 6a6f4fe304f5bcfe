import type { HttpData } from '../../model/observation.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json/json.ts';
import { headerValues } from '../text/http-header.ts';

export type HeaderReading =
  | { readonly state: 'absent' }
  /** `isUnpadded` is true for base64 without padding, which some clients refuse. */
  | {
      readonly state: 'ok';
      readonly raw: string;
      readonly value: JsonObject;
      readonly isUnpadded: boolean;
    }
  | {
      readonly state:
        | 'repeated'
        | 'not-base64'
        | 'base64url'
        | 'raw-json'
        | 'not-utf8'
        | 'not-json'
        | 'not-an-object';
      readonly raw: string;
      readonly detail: string;
    };

const HEADER_NAME = 'payment-required';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64URL = /^[A-Za-z0-9_-]*={0,2}$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * PAYMENT-REQUIRED is standard base64 of UTF-8 JSON (x402 transports-v2, http.md). Clients join repeated headers with a
 * comma, so they cannot decode a repeated header, even if its values are equal.
 */
export function readPaymentHeader(answer: HttpData): HeaderReading {
  const values = headerValues(answer, HEADER_NAME);
  const [first] = values;
  if (first === undefined) return { state: 'absent' };
  if (values.length > 1) {
    return { state: 'repeated', raw: values.join(', '), detail: `sent ${values.length} times` };
  }
  return decodeHeader(first.trim());
}

function decodeHeader(raw: string): HeaderReading {
  if (raw.startsWith('{') || raw.startsWith('[')) {
    return { state: 'raw-json', raw, detail: 'JSON that is not base64-encoded' };
  }
  const encodingFault = findEncodingFault(raw);
  if (encodingFault !== null) return { ...encodingFault, raw };
  const text = decodeUtf8(Buffer.from(raw, 'base64'));
  if (text === null)
    return { state: 'not-utf8', raw, detail: 'base64 of bytes that are not UTF-8' };
  if (text.startsWith('\uFEFF')) {
    return { state: 'not-json', raw, detail: 'a byte order mark before the JSON' };
  }
  const json = parseJson(text);
  if (!json.ok) return { state: 'not-json', raw, detail: json.detail };
  if (!isJsonObject(json.value)) {
    return { state: 'not-an-object', raw, detail: 'JSON, but no object' };
  }
  return { state: 'ok', raw, value: json.value, isUnpadded: raw.length % 4 !== 0 };
}

/**
 * Reads JSON, base64 of JSON and base64url of JSON, with or without padding, to name what a seller meant. Returns null
 * for everything else, and for JSON that is no object and no list.
 */
export function decodeLoosely(raw: string): JsonValue | null {
  const text = raw.trim();
  const isJson = text.startsWith('{') || text.startsWith('[');
  // Node reads both alphabets as base64.
  const json = isJson ? text : decodeUtf8(Buffer.from(text, 'base64'));
  const reading = json === null ? null : parseJson(json);
  if (reading === null || !reading.ok) return null;
  return typeof reading.value === 'object' ? reading.value : null;
}

function findEncodingFault(
  raw: string,
): { readonly state: 'base64url' | 'not-base64'; readonly detail: string } | null {
  if (BASE64.test(raw)) {
    // Base64 has groups of four characters. One more character has six bits, which is less than a byte.
    const hasWholeBytes = raw.length % 4 === 0 || (raw.length % 4 !== 1 && !raw.includes('='));
    if (hasWholeBytes) return null;
    return { state: 'not-base64', detail: `wrong padding: ${raw.length} characters` };
  }
  if (BASE64URL.test(raw)) return { state: 'base64url', detail: 'has "-" or "_" of base64url' };
  return { state: 'not-base64', detail: 'has characters outside base64' };
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}
