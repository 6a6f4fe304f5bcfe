/** JSON values as short text for evidence, whatever their type. */
import { cleanText, quoteExact } from '../text/text.ts';
import type { JsonValue } from './json.ts';

const MAX_CHARS = 80;

/**
 * A JSON value as evidence shows it: short, one line, unseen characters as escapes; "missing" for a
 * member that is not there. A long list costs no more than a short one.
 */
export function showJson(value: JsonValue | undefined, maxChars: number = MAX_CHARS): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string') return quoteExact(value, maxChars);
  return cleanText(writeJson(value, maxChars), maxChars);
}

/** An address as evidence shows it: no blank belongs into one, so each is an escape. */
export function showAddress(value: JsonValue | undefined): string {
  return showJson(value).replaceAll(' ', '\\u0020');
}

/**
 * A JSON value as a text to compare or look up: a text as it is, anything else as evidence shows it.
 * `String(value)` would call what an origin wrote: `{"toString": 1}` has no such method.
 */
export function jsonAsText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : showJson(value);
}

/** JSON that stops early: `budget` characters are enough to know that the rest is cut. */
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
    text += writeJson(memberOf(value, key), budget - text.length);
  }
  return text + (isList ? ']' : '}');
}

function memberOf(value: object, key: string): JsonValue {
  const member: JsonValue | undefined = Reflect.get(value, key);
  return member ?? null;
}
