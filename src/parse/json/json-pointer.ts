import { isJsonList, isJsonObject, type JsonValue } from './json.ts';

/** Limit of chained references; longer chains are treated as cycles. */
const MAX_HOPS = 8;
/** Longer pointers are refused; documents that people write nest less deeply. */
const MAX_POINTER_CHARS = 1_000;

/** Escapes one step of a JSON pointer (RFC 6901): "/weather" is "~1weather". */
export function pointerStep(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Follows a JSON pointer; undefined when it leads nowhere. The empty pointer is the value itself. */
export function atPointer(value: JsonValue | undefined, pointer: string): JsonValue | undefined {
  if (pointer === '') return value;
  if (!pointer.startsWith('/') || pointer.length > MAX_POINTER_CHARS) return undefined;
  let current = value;
  for (const step of pointer.slice(1).split('/')) {
    current = member(current, step.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (current === undefined) return undefined;
  }
  return current;
}

/** Resolves a `$ref` within one document; other values are returned as they are. */
export type RefReader = (value: JsonValue | undefined) => JsonValue | undefined;

/**
 * Resolves to undefined when a reference is remote, leads nowhere or is circular; nothing is fetched.
 * Results are cached by reference, because documents share one among thousands of values.
 */
export function refReader(document: JsonValue): RefReader {
  const known = new Map<string, JsonValue | undefined>();

  function target(reference: string): JsonValue | undefined {
    const passed: string[] = [];
    let at = reference;
    while (!known.has(at)) {
      const isCircle = passed.includes(at);
      if (isCircle || passed.push(at) > MAX_HOPS) {
        // Only a cycle rules out all of its members: a chain that is too long may be short from a later
        // member.
        for (const one of isCircle ? passed : [reference]) known.set(one, undefined);
        return undefined;
      }
      const named = atFragment(document, at);
      if (!isReference(named)) known.set(at, named);
      else at = named.$ref;
    }
    const end = known.get(at);
    for (const one of passed) known.set(one, end);
    return end;
  }
  return (value) => (isReference(value) ? target(value.$ref) : value);
}

function isReference(value: JsonValue | undefined): value is { readonly $ref: string } {
  return isJsonObject(value) && typeof value['$ref'] === 'string';
}

/** A pointer in a URI is percent-encoded (RFC 6901, section 6). */
function atFragment(document: JsonValue, reference: string): JsonValue | undefined {
  return reference.startsWith('#')
    ? atPointer(document, percentDecoded(reference.slice(1)))
    : undefined;
}

/** Inherited members are excluded: "#/constructor" names nothing. */
function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (isJsonList(value))
    return /^(?:0|[1-9][0-9]{0,8})$/.test(name) ? value[Number(name)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
