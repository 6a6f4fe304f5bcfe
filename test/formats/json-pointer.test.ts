import { describe, expect, it } from 'vitest';
import { atPointer, followRef, pointerStep } from '../../src/formats/json-pointer.ts';

const document = {
  paths: { '/users/{id}': { get: 'operation' } },
  'a~b': 1,
  list: ['zero', 'one'],
  loop: { $ref: '#/loop' },
  ping: { $ref: '#/pong' },
  pong: { $ref: '#/ping' },
  hop: { $ref: '#/hop2' },
  hop2: { $ref: '#/list' },
  elsewhere: { $ref: 'https://other.example/x#/a' },
  file: { $ref: 'other.json#/a' },
};

describe('atPointer', () => {
  it.each([
    ['', document],
    ['/list/1', 'one'],
    ['/a~0b', 1],
    [`/paths/${pointerStep('/users/{id}')}/get`, 'operation'],
  ])('%j leads to what stands there', (pointer, value) => {
    expect(atPointer(document, pointer)).toEqual(value);
  });

  it.each(['/none', '/list/2', '/list/-1', '/list/01', '/list/length', '/constructor', 'list'])(
    '%j leads nowhere',
    (pointer) => {
      expect(atPointer(document, pointer)).toBeUndefined();
    },
  );
});

describe('followRef', () => {
  it('follows local references, percent-encoded ones too', () => {
    expect(followRef(document, document.hop)).toEqual(['zero', 'one']);
    const encoded = { $ref: '#/paths/~1users~1%7Bid%7D/get' };
    expect(followRef(document, encoded)).toBe('operation');
    expect(followRef(document, { $ref: '#' })).toEqual(document);
  });

  it('leaves alone what is no reference', () => {
    expect(followRef(document, document.list)).toEqual(['zero', 'one']);
    expect(followRef(document, undefined)).toBeUndefined();
  });

  it('ends in circles, and at other documents', () => {
    for (const name of ['loop', 'ping', 'elsewhere', 'file'] as const) {
      expect(followRef(document, document[name])).toBeUndefined();
    }
    expect(followRef(document, { $ref: '#/%' })).toBeUndefined();
  });

  it('does not walk a pointer of any length', () => {
    expect(followRef(document, { $ref: `#${'/list'.repeat(300)}` })).toBeUndefined();
  });
});
