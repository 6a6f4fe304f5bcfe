import { printParseErrorCode, visit } from 'jsonc-parser';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import { cleanText, quoteExact } from '../text/text.ts';

export type { JsonObject, JsonValue } from '../../model/json.ts';

export type JsonReading =
  | { readonly ok: true; readonly value: JsonValue }
  | {
      readonly ok: false;
      /** The reason, safe for evidence: "not JSON at character 12", "deeper than 64". */
      readonly detail: string;
      /** True if the text may be JSON, but exceeds one of our limits. */
      readonly isOverLimit: boolean;
      /** Position of the fault in the text, not counting a byte order mark; 0 if the fault has no position. */
      readonly offset: number;
    };

export const MAX_JSON_DEPTH = 64;
export const MAX_JSON_NODES = 50_000;
export const MAX_OPENAPI_NODES = 300_000;
const BLANK = /^[ \t\r\n]*$/;
const DEPTH_LIMIT = `deeper than ${MAX_JSON_DEPTH}`;

/**
 * Checks depth and size before it calls `JSON.parse`, which accepts five million nested lists and returns a value
 * that is too deep for recursion. Skips a byte order mark.
 */
export function parseJson(text: string, maxNodes = MAX_JSON_NODES): JsonReading {
  const body = text.replace(/^\uFEFF/, '');
  try {
    requireJson(body, maxNodes);
    return { ok: true, value: JSON.parse(body) };
  } catch (error) {
    const isOverLimit = error instanceof OverLimit;
    if (!isOverLimit && !(error instanceof NotJson)) throw error;
    const offset = error instanceof NotJson ? error.offset : 0;
    return { ok: false, detail: error.message, isOverLimit, offset };
  }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Returns an object unchanged, and an empty object for any other value. */
export function jsonObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns a list unchanged, and an empty list for any other value. */
export function jsonList(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonList(value) ? value : [];
}

/** Returns a non-empty text unchanged, and null for any other value. */
export function jsonText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * Freezes a value and everything in it, and returns the value. Documents of origins can be too deep for recursion,
 * so the loop has its own stack. It skips a frozen value, because everything in that value is frozen already.
 */
export function deepFreeze<T>(value: T): T {
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const next = stack.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next)) stack.push(member);
  }
  return value;
}

const DEFAULT_MAX_CHARS = 80;

/**
 * Formats a JSON value for evidence: one short line, with escapes for invisible characters, and "missing" for
 * `undefined`. Its cost depends on `maxChars`, not on the size of the value.
 */
export function showJson(
  value: JsonValue | undefined,
  maxChars: number = DEFAULT_MAX_CHARS,
): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string') return quoteExact(value, maxChars);
  return cleanText(writeJson(value, maxChars), maxChars);
}

/** Formats an address for evidence. Blanks are faults in an address, so they become visible escapes. */
export function showAddress(value: JsonValue | undefined): string {
  return showJson(value).replaceAll(' ', '\\u0020');
}

/**
 * Converts a JSON value to a text for comparison: a text unchanged, another value by `showJson`.
 * `String(value)` would call the member `toString` of an origin's value, and throws for `{"toString": 1}`.
 */
export function jsonAsText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : showJson(value);
}

/** Stops after about `maxChars` characters, because the caller cuts the text there. */
function writeJson(value: JsonValue, maxChars: number): string {
  if (typeof value === 'string') return quoteExact(value, Math.max(maxChars, 1));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = isJsonList(value);
  let text = isList ? '[' : '{';
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (text.length > 1) text += ',';
    if (text.length >= maxChars) return `${text}…`;
    if (!isList) text += `${quoteExact(key, maxChars)}:`;
    const member = isList ? value[Number(key)] : value[key];
    text += writeJson(member ?? null, maxChars - text.length);
  }
  return text + (isList ? ']' : '}');
}

// A parser goes on after an error, and recurses into nested values. Only an exception stops it.

/** The text exceeds our limits. */
export class OverLimit extends Error {}
/** The text is not JSON. */
export class NotJson extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

function requireJson(text: string, maxNodes: number): void {
  if (BLANK.test(text)) throw new NotJson('empty', 0);
  let depth = 0;
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes > maxNodes) throw new OverLimit(describeNodeLimit(maxNodes));
  };
  const beginNested = () => {
    countNode();
    depth += 1;
    if (depth > MAX_JSON_DEPTH) throw new OverLimit(DEPTH_LIMIT);
  };
  const endNested = () => {
    depth -= 1;
  };
  const visitor = {
    onObjectBegin: beginNested,
    onObjectEnd: endNested,
    onArrayBegin: beginNested,
    onArrayEnd: endNested,
    onLiteralValue: countNode,
    onError(code: number, offset: number, length: number) {
      throw new NotJson(describeError(text, code, offset, length), offset);
    },
  };
  visit(text, visitor, { disallowComments: true, allowTrailingComma: false });
}

function describeNodeLimit(maxNodes: number): string {
  return `over ${maxNodes} nodes`;
}

/**
 * Names the limit of depth or size that a parsed value exceeds; returns null if it exceeds no limit. Goes level by
 * level, without recursion. Does not look into the value `skipped`, which the caller checks in another way.
 */
export function nameExceededLimit(value: unknown, skipped?: unknown): string | null {
  let level: readonly unknown[] = [value];
  let nodes = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    nodes += level.length;
    if (nodes > MAX_JSON_NODES) return describeNodeLimit(MAX_JSON_NODES);
    const parents = level.filter(
      (node): node is object => typeof node === 'object' && node !== null && node !== skipped,
    );
    if (parents.length > 0 && depth === MAX_JSON_DEPTH) return DEPTH_LIMIT;
    level = parents.flatMap((parent): readonly unknown[] => Object.values(parent));
  }
  return null;
}

function describeError(text: string, code: number, offset: number, length: number): string {
  const isStringCut =
    printParseErrorCode(code) === 'UnexpectedEndOfString' && offset + length >= text.length;
  if (isStringCut || offset >= text.length) {
    return `not JSON: it breaks off after ${text.length} characters`;
  }
  return `not JSON at character ${offset + 1}`;
}
