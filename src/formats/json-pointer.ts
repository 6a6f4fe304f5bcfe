import { isJsonList, isJsonObject, type JsonValue } from './json.ts';

/** References that lead to references: more in a row than this is a cycle, or as good as one. */
const MAX_HOPS = 8;
/** Longer than any pointer into a document of bounded depth that people write. */
const MAX_POINTER_CHARS = 1_000;

/** One step of a JSON pointer (RFC 6901): "/weather" is "~1weather". */
export function pointerStep(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** What a JSON pointer leads to; undefined where it leads nowhere. The empty pointer is the value. */
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

/**
 * What a value stands for: itself, or what its `$ref` names in the same document. Undefined where
 * the reference is not local, leads nowhere or in circles. Nothing is ever fetched.
 */
export function followRef(
  document: JsonValue,
  value: JsonValue | undefined,
): JsonValue | undefined {
  let current = value;
  for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
    if (!isJsonObject(current) || typeof current['$ref'] !== 'string') return current;
    current = atFragment(document, current['$ref']);
  }
  return undefined;
}

/** A pointer in a URI is percent-encoded (RFC 6901, 6). */
function atFragment(document: JsonValue, reference: string): JsonValue | undefined {
  return reference.startsWith('#')
    ? atPointer(document, percentDecoded(reference.slice(1)))
    : undefined;
}

/** Own members only: "#/constructor" names nothing. */
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
