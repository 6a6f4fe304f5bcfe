import { createHash } from 'node:crypto';
import type { Origin } from '../guard/origin.ts';
import type { ListedTerms } from '../model/observations.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
} from '../parse/json/json.ts';
import { cleanText } from '../parse/text/text.ts';

const MAX_OFFERS = 32;
const MAX_TEXT_CHARS = 600;
/** Deeper values count as null. */
const MAX_DEPTH = 64;

/** Reads the terms of an item of the Bazaar or of x402scan, in version 1 or 2 of x402. */
export function toListedTerms(item: JsonObject): ListedTerms {
  const accepts = jsonList(item['accepts']).slice(0, MAX_OFFERS);
  const version = item['x402Version'];
  const describedParts = [item, jsonObject(item['metadata']), jsonObject(accepts[0])];
  const description =
    describedParts.map((part) => jsonText(part['description'])).find((text) => text !== null) ??
    null;
  return {
    x402Version: typeof version === 'number' ? version : null,
    description: description === null ? null : cleanText(description, MAX_TEXT_CHARS),
    inputSchema: digestDeclaration(findDeclaredInput(item)),
    offers: accepts.map((entry) => {
      const offer = jsonObject(entry);
      return {
        price: toShortText(offer['amount'] ?? offer['maxAmountRequired']),
        payTo: toShortText(offer['payTo']),
        network: toShortText(offer['network']),
        asset: toShortText(offer['asset']),
        scheme: toShortText(offer['scheme']),
      };
    }),
  };
}

/**
 * Finds the input declaration of an item or a challenge: `info.input` of the bazaar extension, or, in version 1,
 * `outputSchema.input`.
 */
export function findDeclaredInput(value: JsonObject): JsonValue | undefined {
  const bazaar = jsonObject(jsonObject(value['extensions'])['bazaar']);
  const firstOffer = jsonObject(jsonList(value['accepts'])[0]);
  return jsonObject(bazaar['info'])['input'] ?? jsonObject(firstOffer['outputSchema'])['input'];
}

/** Returns the SHA-256 of the canonical JSON (members sorted by name); null without a declaration. */
export function digestDeclaration(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return `sha256:${createHash('sha256').update(toSortedJson(value, 0)).digest('hex')}`;
}

function toSortedJson(value: JsonValue, depth: number): string {
  if (depth > MAX_DEPTH) return 'null';
  if (Array.isArray(value))
    return `[${value.map((item) => toSortedJson(item, depth + 1)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${toSortedJson(member ?? null, depth + 1)}`);
  return `{${members.join(',')}}`;
}

function toShortText(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? cleanText(value, MAX_TEXT_CHARS) : null;
}

/** An index searches by substring, so a row of its answer may belong to another origin. */
export function isSameOrigin(candidate: string, { url }: Pick<Origin, 'url'>): boolean {
  return URL.canParse(candidate) && new URL(candidate).origin === url;
}

/** Converts to ISO 8601 in UTC. Returns null for a text that is not an instant. */
export function toIso(text: string | null | undefined): string | null {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
