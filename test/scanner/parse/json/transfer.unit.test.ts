import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countTextBytes,
  deserializeFrozen,
  findSharedBytes,
  MIN_SHARED_CHARS,
  serialize,
} from '../../../../src/scanner/parse/json/transfer.ts';

/** Sends a value to a worker and returns what arrives. */
function sendToWorker(value: unknown): unknown {
  return deserializeFrozen(structuredClone(serialize(value)));
}

test('any plain data arrives unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // Objects of fast-check may lack a prototype. The values that arrive always have a prototype.
      expect(JSON.stringify(sendToWorker(value))).toBe(JSON.stringify(value));
    }),
  );
});

test('a member named __proto__ is a member like any other', () => {
  const value: unknown = JSON.parse('{"__proto__": {"polluted": true}}');
  const received = sendToWorker(value);
  expect(JSON.stringify(received)).toBe('{"__proto__":{"polluted":true}}');
  expect(Object.getPrototypeOf(received)).toBe(Object.prototype);
});

test('everything that arrives is frozen, at every level', () => {
  const received = sendToWorker({ list: [{ deep: ['x'] }] });
  expect(received).toEqual({ list: [{ deep: ['x'] }] });
  const expectFrozen = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    expect(Object.isFrozen(value)).toBe(true);
    for (const part of Object.values(value)) expectFrozen(part);
  };
  expectFrozen(received);
});

test.each([
  [MIN_SHARED_CHARS - 1, false],
  [MIN_SHARED_CHARS, true],
])('a text of %i characters is shared: %s', (length, shared) => {
  const serialized = serialize('x'.repeat(length));
  expect(serialized instanceof SharedArrayBuffer).toBe(shared);
  expect(countTextBytes(serialized)).toBe(length);
});

test('data that is not plain is refused with the name of its kind', () => {
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

test('a shared text has memory pages of its own, so that the system gets the memory back', () => {
  const serialized = serialize('x'.repeat(MIN_SHARED_CHARS));
  expect(serialized instanceof SharedArrayBuffer && serialized.growable).toBe(true);
});

test('an object that keeps its shared memory is passed on without encoding or decoding', () => {
  const body = `界${'x'.repeat(MIN_SHARED_CHARS)}`;
  const serialized = serialize({ status: 200, body, last: true });
  const received = deserializeFrozen(serialized, true) as { readonly body: string };
  expect(serialize({ received })).toEqual({ received: serialized });
  expect(serialize(received)).toBe(serialized);
  expect(findSharedBytes(received, 'body')?.toString()).toBe(body);
  expect(findSharedBytes(received, 'status')).toBeNull();
  expect(Object.getOwnPropertyDescriptor(received, 'body')).not.toHaveProperty('value');
  expect(JSON.stringify(received)).toBe(JSON.stringify({ status: 200, body, last: true }));
});
