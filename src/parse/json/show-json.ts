import { cleanText, quoteExact } from '../text/text.ts';
import type { JsonValue } from './json.ts';

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
