/**
 * Serializes plain data for other threads. A long text is sent as shared memory, because 25 checks that read one
 * document would otherwise copy it 25 times. The receiving thread decodes the text when it first reads the member.
 */

import { deserialize as decode, serialize as encode } from 'node:v8';

/** Shorter texts are cheaper to copy than to share. */
export const MIN_SHARED_CHARS = 64 * 1024;
/** V8 stores two bytes for each character of a text that has any character outside Latin-1. */
export const MAX_BYTES_PER_CHAR = 2;

export type Serialized =
  | null
  | undefined
  | boolean
  | number
  | string
  | SharedArrayBuffer
  /** Bytes that `pack` encoded. */
  | Uint8Array
  | readonly Serialized[]
  | { readonly [member: string]: Serialized };

/** Serialized forms of restored objects that have a long text. */
const serializedForms = new WeakMap<object, Serialized>();

/**
 * Accepts plain data (JSON shapes and `undefined`); throws TypeError for anything else. An object whose
 * serialized form was kept is not serialized again.
 */
export function serialize(value: unknown): Serialized {
  if (typeof value === 'string') return serializeText(value);
  if (value === null || value === undefined) return value;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(serialize);
  if (typeof value === 'object' && isPlainObject(value)) return serializeMembers(value);
  throw new TypeError(`Only plain data crosses to a worker, not ${describeType(value)}.`);
}

/**
 * Encodes data that many tasks get, because bytes are copied faster than objects. Data with shared memory stays
 * unchanged.
 */
export function pack(serialized: Serialized): Serialized {
  return hasSharedMemory(serialized) ? serialized : encode(serialized);
}

/**
 * Restores data and freezes every level. It decodes a long text of an object only when somebody reads the member,
 * so a thread that only passes the object on never decodes the text. With `keepsForm`, the serialized form is kept, and
 * `serialize` returns it for the restored object.
 */
export function deserializeFrozen(serialized: Serialized, keepsForm = false): unknown {
  if (serialized instanceof SharedArrayBuffer) return decodeText(serialized);
  if (serialized instanceof Uint8Array) return deserializeFrozen(decode(serialized), keepsForm);
  if (typeof serialized !== 'object' || serialized === null) return serialized;
  const restore = (part: Serialized) => deserializeFrozen(part, keepsForm);
  if (Array.isArray(serialized)) return Object.freeze(serialized.map(restore));
  const members = Object.entries(serialized);
  const value: object = Object.fromEntries(
    // The empty text keeps the place of a member whose getter is defined below.
    members.map(([name, part]) => [name, isShared(part) ? '' : restore(part)]),
  );
  for (const [name, part] of members) {
    if (isShared(part)) Object.defineProperty(value, name, toDecodingGetter(part));
  }
  if (keepsForm && members.some(([, part]) => isShared(part)))
    serializedForms.set(value, serialized);
  return Object.freeze(value);
}

/** Returns the UTF-8 bytes of a member if they are in shared memory; otherwise null. */
export function findSharedBytes(value: object, name: string): Buffer | null {
  const serialized = serializedForms.get(value) ?? {};
  const member = Object.entries(serialized).find(([memberName]) => memberName === name)?.[1];
  return isShared(member) ? Buffer.from(member) : null;
}

/** Returns the number of UTF-8 bytes of all texts in a serialized value. */
export function countTextBytes(serialized: Serialized): number {
  if (typeof serialized === 'string') return Buffer.byteLength(serialized, 'utf8');
  if (serialized instanceof SharedArrayBuffer) return serialized.byteLength;
  if (serialized instanceof Uint8Array) return countTextBytes(decode(serialized));
  if (typeof serialized !== 'object' || serialized === null) return 0;
  return Object.values(serialized).reduce<number>((sum, part) => sum + countTextBytes(part), 0);
}

function serializeMembers(value: object): Serialized {
  const form = serializedForms.get(value);
  if (form !== undefined) return form;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]: [string, unknown]) => [name, serialize(part)]),
  );
}

function toDecodingGetter(shared: SharedArrayBuffer): PropertyDescriptor {
  let text: SharedArrayBuffer | string = shared;
  return {
    enumerable: true,
    get() {
      if (typeof text !== 'string') text = decodeText(text);
      return text;
    },
  };
}

function serializeText(text: string): Serialized {
  // UTF-8 cannot encode a lone surrogate, so a text with a lone surrogate is copied. Only recordings have such texts.
  if (text.length < MIN_SHARED_CHARS || !text.isWellFormed()) return text;
  const shared = allocateShared(Buffer.byteLength(text, 'utf8'));
  Buffer.from(shared).write(text, 'utf8');
  return shared;
}

/** Copies UTF-8 bytes to shared memory. */
export function shareBytes(bytes: Uint8Array): SharedArrayBuffer {
  const shared = allocateShared(bytes.length);
  new Uint8Array(shared).set(bytes);
  return shared;
}

/**
 * `maxByteLength` makes the memory growable. Growable memory has pages of its own, which return to the system when
 * they are freed. Other buffers would fragment the C heap.
 */
function allocateShared(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes, { maxByteLength: bytes });
}

function hasSharedMemory(value: Serialized): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isShared(value) || Object.values(value).some(hasSharedMemory);
}

function isShared(value: unknown): value is SharedArrayBuffer {
  return value instanceof SharedArrayBuffer;
}

function decodeText(shared: SharedArrayBuffer): string {
  return Buffer.from(shared).toString('utf8');
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describeType(value: unknown): string {
  return typeof value === 'object' ? Object.prototype.toString.call(value) : typeof value;
}
