import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countTextBytes,
  deserializeFrozen,
  findSharedBytes,
  MIN_SHARED_CHARS,
  serialize,
} from '../../../src/parse/json/transfer.ts';

/** Sends a value to a worker and returns what arrives. */
function sendToWorker(value: unknown): unknown {
  return deserializeFrozen(structuredClone(serialize(value)));
}

test('any plain data arrives unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // Objects of fast-check may lack a prototype; the values that arrive always have a prototype.
      expect(JSON.stringify(sendToWorker(value))).toBe(JSON.stringify(value));
    }),
  );
});

test('a member named __proto__ is a member like any other', () => {
  const value: unknown = JSON.parse('{"__proto__": {"polluted": true}}');
  const arrived = sendToWorker(value);
  expect(JSON.stringify(arrived)).toBe('{"__proto__":{"polluted":true}}');
  expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
});

test('everything that arrives is frozen, at every level', () => {
  const arrived = sendToWorker({ list: [{ deep: ['x'] }] });
  expect(arrived).toEqual({ list: [{ deep: ['x'] }] });
  const check = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    expect(Object.isFrozen(value)).toBe(true);
    for (const part of Object.values(value)) check(part);
  };
  check(arrived);
});

test.each([
  [MIN_SHARED_CHARS - 1, false],
  [MIN_SHARED_CHARS, true],
])('a text of %i characters is shared: %s', (length, shared) => {
  const serialized = serialize('x'.repeat(length));
  expect(serialized instanceof SharedArrayBuffer).toBe(shared);
  expect(countTextBytes(serialized)).toBe(length);
});

test('data that is not plain is refused with its kind', () => {
  for (const [value, name] of [
    [new Map(), '[object Map]'],
    [new Date(0), '[object Date]'],
    [() => {}, 'function'],
    [1n, 'bigint'],
    [Symbol('s'), 'symbol'],
    [{ deep: [new Uint8Array(1)] }, '[object Uint8Array]'],
  ] as const) {
    expect(() => serialize(value)).toThrow(`not ${name}`);
  }
});

test('the size of texts counts their UTF-8 bytes, at any depth', () => {
  expect(countTextBytes(serialize({ a: 'é', b: ['x', 1, null, { c: '🜁' }] }))).toBe(2 + 1 + 4);
});

/** Memory of the C library would fragment, and the system would not get it back. */
test('shared texts have memory pages of their own', () => {
  const serialized = serialize('x'.repeat(MIN_SHARED_CHARS));
  expect(serialized instanceof SharedArrayBuffer && serialized.growable).toBe(true);
});

test('an object that keeps its shared memory is passed on without encoding or decoding', () => {
  const body = `界${'x'.repeat(MIN_SHARED_CHARS)}`;
  const sent = serialize({ status: 200, body, last: true });
  const arrived = deserializeFrozen(sent, true) as { readonly body: string };
  expect(serialize({ arrived })).toEqual({ arrived: sent });
  expect(serialize(arrived)).toBe(sent);
  expect(findSharedBytes(arrived, 'body')?.toString()).toBe(body);
  expect(findSharedBytes(arrived, 'status')).toBeNull();
  expect(Object.getOwnPropertyDescriptor(arrived, 'body')).not.toHaveProperty('value');
  expect(JSON.stringify(arrived)).toBe(JSON.stringify({ status: 200, body, last: true }));
});
