import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  deserializeFrozen,
  deserializeLazily,
  SHARED_FROM_CHARS,
  serialize,
  textBytes,
} from '../../../src/parse/json/transfer.ts';

/** As it arrives in a worker. */
function across(value: unknown): unknown {
  return deserializeFrozen(structuredClone(serialize(value)));
}

test('any plain data arrives as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // Objects of fast-check may lack a prototype; what arrives never does.
      expect(JSON.stringify(across(value))).toBe(JSON.stringify(value));
    }),
  );
});

test('a member named __proto__ is a member like any other', () => {
  const value: unknown = JSON.parse('{"__proto__": {"polluted": true}}');
  const arrived = across(value);
  expect(JSON.stringify(arrived)).toBe('{"__proto__":{"polluted":true}}');
  expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
});

test('everything that arrives is frozen, at every level', () => {
  const arrived = across({ list: [{ deep: ['x'] }] });
  expect(arrived).toEqual({ list: [{ deep: ['x'] }] });
  const check = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    expect(Object.isFrozen(value)).toBe(true);
    for (const part of Object.values(value)) check(part);
  };
  check(arrived);
});

test.each([
  [SHARED_FROM_CHARS - 1, false],
  [SHARED_FROM_CHARS, true],
])('a text of %i characters is shared: %s', (length, shared) => {
  const serialized = serialize('x'.repeat(length));
  expect(serialized instanceof SharedArrayBuffer).toBe(shared);
  expect(textBytes(serialized)).toBe(length);
});

test('what is no plain data is refused by name', () => {
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

test('the size of texts is that of their UTF-8, wherever they stand', () => {
  expect(textBytes(serialize({ a: 'é', b: ['x', 1, null, { c: '🜁' }] }))).toBe(2 + 1 + 4);
});

describe('for a thread that passes texts on', () => {
  const long = 'ü'.repeat(SHARED_FROM_CHARS);
  const value = { ok: true, data: { body: long, headers: [['a', 'b']], hops: [], none: null } };
  const arrives = (): typeof value =>
    deserializeLazily(structuredClone(serialize(value))) as typeof value; // as it was sent

  test('what arrives reads as it was sent', () => {
    const arrived = arrives();
    expect(arrived).toEqual(value);
    expect(JSON.stringify(arrived)).toBe(JSON.stringify(value));
    expect({ ...arrived.data }).toEqual(value.data);
  });

  test('the memory that came is the memory that goes, and no text is made of it', () => {
    const arrived = arrives();
    const [first, again] = [serialize(arrived), serialize({ copied: arrived })];
    expect(bodyOf(first)).toBeInstanceOf(SharedArrayBuffer);
    expect(bodyOf(again)).toBe(bodyOf(first));
    expect(deserializeFrozen(first)).toEqual(value);
  });

  test('any plain data, a member named __proto__ too', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(JSON.stringify(deserializeLazily(serialize(json)))).toBe(JSON.stringify(json));
      }),
    );
    const odd: unknown = JSON.parse(`{"__proto__": "${long}", "toString": 1}`);
    const arrived = deserializeLazily(serialize(odd));
    expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
    expect(JSON.stringify(deserializeFrozen(serialize(arrived)))).toBe(JSON.stringify(odd));
  });
});

/** Where the C library puts memory, documents leave holes that no later one gives back. */
test('shared texts have pages of their own', () => {
  const serialized = serialize('x'.repeat(SHARED_FROM_CHARS));
  expect(serialized instanceof SharedArrayBuffer && serialized.growable).toBe(true);
});

function bodyOf(serialized: unknown): unknown {
  if (typeof serialized !== 'object' || serialized === null) return undefined;
  if ('copied' in serialized) return bodyOf(serialized.copied);
  if ('data' in serialized) return bodyOf(serialized.data);
  return 'body' in serialized ? serialized.body : undefined;
}
