import { describe, expect, test } from 'vitest';
import {
  createRefResolver,
  escapePointerStep,
  followPointer,
} from '../../../../src/scanner/parse/json/json-pointer.ts';

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

describe('followPointer', () => {
  test.each([
    ['', document],
    ['/list/1', 'one'],
    ['/a~0b', 1],
    [`/paths/${escapePointerStep('/users/{id}')}/get`, 'operation'],
  ])('%j leads to the value at its place', (pointer, value) => {
    expect(followPointer(document, pointer)).toEqual(value);
  });

  test.each(['/none', '/list/2', '/list/-1', '/list/01', '/list/length', '/constructor', 'list'])(
    '%j leads to no value',
    (pointer) => {
      expect(followPointer(document, pointer)).toBeUndefined();
    },
  );
});

describe('createRefResolver', () => {
  const follow = createRefResolver(document);

  test('follows local references, including percent-encoded references', () => {
    expect(follow(document.hop)).toEqual(['zero', 'one']);
    const encoded = { $ref: '#/paths/~1users~1%7Bid%7D/get' };
    expect(follow(encoded)).toBe('operation');
    expect(follow({ $ref: '#' })).toEqual(document);
  });

  test('returns values that are not references unchanged', () => {
    expect(follow(document.list)).toEqual(['zero', 'one']);
    expect(follow(undefined)).toBeUndefined();
  });

  test('resolves neither circular references nor references to another document', () => {
    for (const name of ['loop', 'ping', 'elsewhere', 'file'] as const) {
      expect(follow(document[name])).toBeUndefined();
    }
    expect(follow({ $ref: '#/%' })).toBeUndefined();
  });

  test('follows no pointer that is too long', () => {
    expect(follow({ $ref: `#${'/list'.repeat(300)}` })).toBeUndefined();
  });

  test('follows at most eight references, in any order of calls', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`s${index}`, { $ref: `#/s${index + 1}` }]),
    );
    const followInChain = createRefResolver({ ...chain, s12: 'end' });
    expect(followInChain({ $ref: '#/s4' })).toBeUndefined();
    expect(followInChain({ $ref: '#/s5' })).toBe('end');
    expect(followInChain({ $ref: '#/s0' })).toBeUndefined();
  });
});
