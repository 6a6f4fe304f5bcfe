import type { HttpData } from '../../model/observation.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../json/json.ts';
import { headerValues } from '../text/http-header.ts';
import { decodePercent } from '../text/text.ts';

export type HeaderReading =
  | { readonly state: 'absent' }
  | {
      readonly state: 'ok';
      readonly raw: string;
      readonly value: JsonObject;
      /** True for base64 without padding, which some clients refuse. */
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
/** JSON in two bytes a character, after a byte order mark or without one. */
const UTF16_JSON = /^(?:\xff\xfe|\xfe\xff|[{[]\0|\0[{[])/;
const NOT_UTF8 = 'base64 of bytes that are not UTF-8';
const PERCENT_JSON = /^%(?:7b|5b)/i;
/** The JSON, and the two encodings around it that sellers use at most: base64 of base64, or base64 of a JSON text. */
const MAX_LAYERS = 3;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * PAYMENT-REQUIRED is standard base64 of UTF-8 JSON (x402 transports-v2, http.md). Clients join repeated headers with a
 * comma, so they cannot decode a repeated header, even if its values are equal.
 */
export function readPaymentHeader(answer: Pick<HttpData, 'headers'>): HeaderReading {
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
  const bytes = Buffer.from(raw, 'base64');
  const text = decodeUtf8(bytes);
  if (text === null || UTF16_JSON.test(text)) {
    const isUtf16 = UTF16_JSON.test(bytes.toString('latin1'));
    return { state: 'not-utf8', raw, detail: isUtf16 ? 'base64 of UTF-16' : NOT_UTF8 };
  }
  if (text.startsWith('\uFEFF')) {
    return { state: 'not-json', raw, detail: 'a byte order mark before the JSON' };
  }
  const json = parseJson(text);
  if (json.ok && isJsonObject(json.value)) {
    return { state: 'ok', raw, value: json.value, isUnpadded: raw.length % 4 !== 0 };
  }
  const holdsMoreJson = decodeLoosely(text) !== null;
  if (!json.ok) {
    return { state: 'not-json', raw, detail: holdsMoreJson ? 'base64 of base64' : json.detail };
  }
  if (typeof json.value === 'string' && holdsMoreJson) {
    return { state: 'not-json', raw, detail: 'a text that holds the JSON once more' };
  }
  const form = isJsonList(json.value) ? 'a list, not an object' : 'not an object';
  return { state: 'not-an-object', raw, detail: `JSON, but ${form}` };
}

/**
 * Reads an object or a list that may be percent-encoded, or encoded once or twice in base64 or base64url, with or without
 * padding. Evidence then names what the seller meant. Returns null for everything else.
 */
export function decodeLoosely(raw: string): JsonValue | null {
  let text: string | null = raw.trim();
  for (let layer = 0; layer < MAX_LAYERS && text !== null && text !== ''; layer += 1) {
    const reading = parseJson(text);
    if (reading.ok && typeof reading.value === 'object') return reading.value;
    text = reading.ok && typeof reading.value === 'string' ? reading.value : removeLayer(text);
  }
  return null;
}

function removeLayer(text: string): string | null {
  if (text.startsWith('{') || text.startsWith('[')) return null;
  // Node reads both alphabets as base64.
  return PERCENT_JSON.test(text) ? decodePercent(text) : decodeUtf8(Buffer.from(text, 'base64'));
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
  if (PERCENT_JSON.test(raw)) {
    return { state: 'not-base64', detail: 'JSON that is percent-encoded, not base64-encoded' };
  }
  return { state: 'not-base64', detail: 'has characters outside base64' };
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}
