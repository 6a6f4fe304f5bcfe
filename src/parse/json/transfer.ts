/**
 * Serializes plain data for other threads. A long text travels as shared memory, so that 25 checks that
 * need one document do not copy it 25 times; the receiver decodes and freezes it before a check reads it.
 */

/** Shorter texts are cheaper to copy than to share. */
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

/** Accepts plain data (JSON shapes and `undefined`); throws TypeError for anything else. */
export function serialize(value: unknown): Serialized {
  if (typeof value === 'string') return serializeText(value);
  if (value === null || value === undefined) return value;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(serialize);
  if (typeof value === 'object' && isPlain(value)) return serializeMembers(value);
  throw new TypeError(`Only plain data crosses to a worker, not ${describe(value)}.`);
}

/** Restores texts as strings and freezes every level. */
export function deserializeFrozen(serialized: Serialized): unknown {
  if (serialized instanceof SharedArrayBuffer) return toText(serialized);
  if (typeof serialized !== 'object' || serialized === null) return serialized;
  if (Array.isArray(serialized)) return Object.freeze(serialized.map(deserializeFrozen));
  return Object.freeze(
    Object.fromEntries(
      Object.entries(serialized).map(([name, part]) => [name, deserializeFrozen(part)]),
    ),
  );
}

/** Returns the UTF-8 bytes of all texts in a serialized value. */
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
 * Growable memory has its own pages, which are returned to the system when freed. Other buffers live in
 * the C heap, which stays fragmented between documents.
 */
function serializeText(text: string): Serialized {
  // UTF-8 cannot encode a lone surrogate, which only a recording can hold, so such a text is copied.
  if (text.length < SHARED_FROM_CHARS || !text.isWellFormed()) return text;
  const bytes = Buffer.byteLength(text, 'utf8');
  const shared = new SharedArrayBuffer(bytes, { maxByteLength: bytes });
  Buffer.from(shared).write(text, 'utf8');
  return shared;
}

function toText(shared: SharedArrayBuffer): string {
  return Buffer.from(shared).toString('utf8');
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(value: unknown): string {
  return typeof value === 'object' ? Object.prototype.toString.call(value) : typeof value;
}
