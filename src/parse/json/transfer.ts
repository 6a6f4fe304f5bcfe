/**
 * How plain data crosses between threads. A long text travels as shared memory, so that 25 checks
 * that need one document do not copy it 25 times; it is text again, and everything frozen, before a
 * check sees it.
 */

/** Texts of this length are shared between threads. Shorter ones are cheaper to copy. */
export const SHARED_FROM_CHARS = 64 * 1024;

export type Serialized =
  | null
  | undefined
  | boolean
  | number
  | string
  | SharedArrayBuffer
  | readonly Serialized[]
  | { readonly [member: string]: Serialized };

/** Plain data only (JSON shapes and `undefined`); throws TypeError on anything else. */
export function serialize(value: unknown): Serialized {
  if (typeof value === 'string') return serializeText(value);
  if (value === null || value === undefined) return value;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(serialize);
  if (typeof value === 'object' && isPlain(value)) return serializeMembers(value);
  throw new TypeError(`Only plain data crosses to a worker, not ${describe(value)}.`);
}

/** The value again, with texts as strings, frozen at every level. */
export function deserializeFrozen(serialized: Serialized): unknown {
  if (serialized instanceof SharedArrayBuffer) return textOf(serialized);
  if (typeof serialized !== 'object' || serialized === null) return serialized;
  if (Array.isArray(serialized)) return Object.freeze(serialized.map(deserializeFrozen));
  return Object.freeze(
    Object.fromEntries(
      Object.entries(serialized).map(([name, part]) => [name, deserializeFrozen(part)]),
    ),
  );
}

/** How many bytes of UTF-8 text a serialized value carries. */
export function textBytes(serialized: Serialized): number {
  if (typeof serialized === 'string') return Buffer.byteLength(serialized, 'utf8');
  if (serialized instanceof SharedArrayBuffer) return serialized.byteLength;
  if (typeof serialized !== 'object' || serialized === null) return 0;
  return Object.values(serialized).reduce<number>((sum, part) => sum + textBytes(part), 0);
}

function serializeMembers(value: object): Serialized {
  return Object.fromEntries(
    Object.entries(value).map(([name, part]: [string, unknown]) => [name, serialize(part)]),
  );
}

/**
 * Memory that can grow has pages of its own, which go back to the system with it. Any other lies
 * where the C library puts it, and of a heap with holes between documents nothing goes back.
 */
function serializeText(text: string): Serialized {
  // UTF-8 cannot carry a lone surrogate; such a text (only a recording can hold one) is copied.
  if (text.length < SHARED_FROM_CHARS || !text.isWellFormed()) return text;
  const bytes = Buffer.byteLength(text, 'utf8');
  const shared = new SharedArrayBuffer(bytes, { maxByteLength: bytes });
  Buffer.from(shared).write(text, 'utf8');
  return shared;
}

function textOf(shared: SharedArrayBuffer): string {
  return Buffer.from(shared).toString('utf8');
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(value: unknown): string {
  return typeof value === 'object' ? Object.prototype.toString.call(value) : typeof value;
}
