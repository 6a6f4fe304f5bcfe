import { decodePercent } from '../text/text.ts';
import { isJsonList, isJsonObject, type JsonValue } from './json.ts';

/** Longer chains of references are treated as cycles. */
const MAX_HOPS = 8;
/** Longer pointers lead nowhere. Documents that people write do not need longer pointers. */
const MAX_POINTER_CHARS = 1_000;

/** Escapes a member name as one step of a JSON pointer (RFC 6901): "/weather" becomes "~1weather". */
export function escapePointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Follows a JSON pointer; returns undefined if it leads nowhere. The empty pointer leads to the value itself. */
export function followPointer(
  value: JsonValue | undefined,
  pointer: string,
): JsonValue | undefined {
  if (pointer === '') return value;
  if (!pointer.startsWith('/') || pointer.length > MAX_POINTER_CHARS) return undefined;
  let current = value;
  for (const step of pointer.slice(1).split('/')) {
    current = readOwnMember(current, step.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (current === undefined) return undefined;
  }
  return current;
}

/** Returns the value that a value's `$ref` points to in one document. Returns a value without `$ref` unchanged. */
export type RefResolver = (value: JsonValue | undefined) => JsonValue | undefined;

/**
 * The resolver returns undefined if a reference is remote, leads nowhere or is circular. It fetches nothing.
 * Targets are cached by reference, because thousands of values in a document may have the same reference.
 */
export function createRefResolver(document: JsonValue): RefResolver {
  const targets = new Map<string, JsonValue | undefined>();

  function resolve(reference: string): JsonValue | undefined {
    const chain: string[] = [];
    let current = reference;
    while (!targets.has(current)) {
      const isCircle = chain.includes(current);
      chain.push(current);
      if (isCircle || chain.length > MAX_HOPS) {
        // All references of a cycle lead nowhere. If a chain is too long, only its first reference is marked,
        // because the chain from a later reference may be short enough.
        for (const link of isCircle ? chain : [reference]) targets.set(link, undefined);
        return undefined;
      }
      const value = followFragment(document, current);
      if (!isReference(value)) targets.set(current, value);
      else current = value.$ref;
    }
    const target = targets.get(current);
    for (const link of chain) targets.set(link, target);
    return target;
  }
  return (value) => (isReference(value) ? resolve(value.$ref) : value);
}

function isReference(value: JsonValue | undefined): value is { readonly $ref: string } {
  return isJsonObject(value) && typeof value['$ref'] === 'string';
}

/** In a URI, a pointer is percent-encoded (RFC 6901, section 6). A pointer with malformed escapes is read as it is. */
function followFragment(document: JsonValue, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined;
  const pointer = reference.slice(1);
  return followPointer(document, decodePercent(pointer) ?? pointer);
}

/** Excludes inherited members, so "#/constructor" leads nowhere. */
function readOwnMember(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (isJsonList(value))
    return /^(?:0|[1-9][0-9]{0,8})$/.test(name) ? value[Number(name)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
