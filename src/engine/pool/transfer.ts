/**
 * How plain data crosses to a worker. A long text travels as shared memory, so that 25 checks that
 * need one document do not copy it 25 times; it is text again, and everything frozen, before a
 * check sees it.
 */

/** From this length a text is shared. Shorter ones are cheaper to copy. */
export const SHARED_FROM_CHARS = 64 * 1024;

export type Packed =
  | null
  | undefined
  | boolean
  | number
  | string
  | SharedArrayBuffer
  | readonly Packed[]
  | { readonly [member: string]: Packed };

/** Plain data only (JSON shapes and `undefined`); throws TypeError on anything else. */
export function pack(value: unknown): Packed {
  if (typeof value === 'string') return packText(value);
  if (value === null || value === undefined) return value;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(pack);
  if (typeof value === 'object' && isPlain(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, pack(part)]));
  }
  throw new TypeError(`Only plain data crosses to a worker, not ${describe(value)}.`);
}

/** The value again, with texts as strings, frozen at every level. */
export function unpackFrozen(packed: Packed): unknown {
  if (packed instanceof SharedArrayBuffer) return Buffer.from(packed).toString('utf8');
  if (typeof packed !== 'object' || packed === null) return packed;
  if (Array.isArray(packed)) return Object.freeze(packed.map(unpackFrozen));
  return Object.freeze(
    Object.fromEntries(Object.entries(packed).map(([name, part]) => [name, unpackFrozen(part)])),
  );
}

/** How many bytes of UTF-8 text a packed value carries. */
export function textBytes(packed: Packed): number {
  if (typeof packed === 'string') return Buffer.byteLength(packed, 'utf8');
  if (packed instanceof SharedArrayBuffer) return packed.byteLength;
  if (typeof packed !== 'object' || packed === null) return 0;
  return Object.values(packed).reduce<number>((sum, part) => sum + textBytes(part), 0);
}

function packText(text: string): Packed {
  // UTF-8 cannot carry a lone surrogate; such a text (only a recording can hold one) is copied.
  if (text.length < SHARED_FROM_CHARS || !text.isWellFormed()) return text;
  const shared = new SharedArrayBuffer(Buffer.byteLength(text, 'utf8'));
  Buffer.from(shared).write(text, 'utf8');
  return shared;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(value: unknown): string {
  return typeof value === 'object' ? Object.prototype.toString.call(value) : typeof value;
}
