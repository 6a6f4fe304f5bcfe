/**
 * Serializes plain data for other threads. A long text travels as shared memory, so that 25 checks that
 * need one document do not copy it 25 times; the receiver decodes it when it is first read.
 */

import { deserialize as decode, serialize as encode } from 'node:v8';

/** Shorter texts are cheaper to copy than to share. */
export const SHARED_FROM_CHARS = 64 * 1024;
/** Whichever of the two V8 takes: one character beyond Latin-1 makes a text of two bytes each. */
export const BYTES_PER_CHARACTER = 2;

export type Serialized =
  | null
  | undefined
  | boolean
  | number
  | string
  | SharedArrayBuffer
  /** Of `pack`. */
  | Uint8Array
  | readonly Serialized[]
  | { readonly [member: string]: Serialized };

/** Frozen objects with a long text, and their serialized form for as long as they are used. */
const serializedForms = new WeakMap<
  object,
  { readonly serialized: Serialized; readonly weight: unknown }
>();

/**
 * Accepts plain data (JSON shapes and `undefined`); throws TypeError for anything else. An object that
 * keeps its shared memory is not encoded again.
 */
export function serialize(value: unknown): Serialized {
  if (typeof value === 'string') return serializeText(value);
  if (value === null || value === undefined) return value;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(serialize);
  if (typeof value === 'object' && isPlain(value)) return serializeMembers(value);
  throw new TypeError(`Only plain data crosses to a worker, not ${describe(value)}.`);
}

/** Encodes once what many tasks get: to copy its bytes is quicker. What has a long text stays as it is. */
export function pack(serialized: Serialized): Serialized {
  return hasShared(serialized) ? serialized : encode(serialized);
}

/**
 * Restores data and freezes every level. A long text that is a member is decoded when it is first read, so
 * that a thread which only passes it on never holds it. `isKept`: the object is serialized again later,
 * with the same shared memory.
 */
export function deserializeFrozen(serialized: Serialized, isKept = false): unknown {
  if (serialized instanceof SharedArrayBuffer) return toText(serialized);
  if (serialized instanceof Uint8Array) return deserializeFrozen(decode(serialized), isKept);
  if (typeof serialized !== 'object' || serialized === null) return serialized;
  const restore = (part: Serialized) => deserializeFrozen(part, isKept);
  if (Array.isArray(serialized)) return Object.freeze(serialized.map(restore));
  const members = Object.entries(serialized);
  const value: object = Object.fromEntries(
    members.map(([name, part]) => [name, isShared(part) ? '' : restore(part)]),
  );
  for (const [name, part] of members) {
    if (isShared(part)) Object.defineProperty(value, name, decodedOnce(part));
  }
  if (isKept) keep(value, serialized);
  return Object.freeze(value);
}

/** Returns the UTF-8 of a member that is a long text, undecoded; null of any other. */
export function sharedBytes(value: object, name: string): Buffer | null {
  const serialized = serializedForms.get(value)?.serialized ?? {};
  const member = Object.entries(serialized).find(([own]) => own === name)?.[1];
  return isShared(member) ? Buffer.from(member) : null;
}

/** Returns the UTF-8 bytes of all texts in a serialized value. */
export function textBytes(serialized: Serialized): number {
  if (typeof serialized === 'string') return Buffer.byteLength(serialized, 'utf8');
  if (serialized instanceof SharedArrayBuffer) return serialized.byteLength;
  if (serialized instanceof Uint8Array) return textBytes(decode(serialized));
  if (typeof serialized !== 'object' || serialized === null) return 0;
  return Object.values(serialized).reduce<number>((sum, part) => sum + textBytes(part), 0);
}

function serializeMembers(value: object): Serialized {
  const before = serializedForms.get(value);
  if (before !== undefined) return before.serialized;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]: [string, unknown]) => [name, serialize(part)]),
  );
}

/**
 * V8 does not count shared memory: hundreds of megabytes that nobody uses would wait for a collection. A
 * buffer as large as the decoded texts, whose pages are never touched, weighs for them.
 */
function keep(value: object, serialized: Serialized): void {
  const shared = Object.values(serialized ?? {}).filter(isShared);
  if (shared.length === 0) return;
  const bytes = BYTES_PER_CHARACTER * shared.reduce((sum, { byteLength }) => sum + byteLength, 0);
  serializedForms.set(value, {
    serialized,
    weight: new ArrayBuffer(bytes, { maxByteLength: bytes }),
  });
}

function decodedOnce(shared: SharedArrayBuffer): PropertyDescriptor {
  let text: SharedArrayBuffer | string = shared;
  return {
    enumerable: true,
    get() {
      if (typeof text !== 'string') text = toText(text);
      return text;
    },
  };
}

function serializeText(text: string): Serialized {
  // UTF-8 cannot encode a lone surrogate, which only a recording can hold, so such a text is copied.
  if (text.length < SHARED_FROM_CHARS || !text.isWellFormed()) return text;
  const shared = newShared(Buffer.byteLength(text, 'utf8'));
  Buffer.from(shared).write(text, 'utf8');
  return shared;
}

/** Copies a text that is UTF-8 already. */
export function shareBytes(bytes: Uint8Array): SharedArrayBuffer {
  const shared = newShared(bytes.length);
  new Uint8Array(shared).set(bytes);
  return shared;
}

/**
 * Growable memory has its own pages, which are returned to the system when freed. Other buffers live in
 * the C heap, which stays fragmented between documents.
 */
function newShared(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes, { maxByteLength: bytes });
}

function hasShared(value: Serialized): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isShared(value) || Object.values(value).some(hasShared);
}

function isShared(value: unknown): value is SharedArrayBuffer {
  return value instanceof SharedArrayBuffer;
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
