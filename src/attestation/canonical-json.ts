import canonicalize from 'canonicalize';
import type { JsonValue } from '../model/json.ts';

/**
 * RFC 8785. Text with a lone surrogate has no UTF-8, so it is made well-formed first, as
 * `String.prototype.toWellFormed` does. Members that are `undefined` are dropped.
 */
export function toCanonicalJson(value: JsonValue): string {
  const text = canonicalize(toWellFormed(value));
  if (text === undefined) throw new TypeError('This value has no JSON.');
  return text;
}

function toWellFormed(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((one) => toWellFormed(one) ?? null);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), toWellFormed(member)]),
  );
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
