import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type JsonReading,
  MAX_JSON_DEPTH,
  MAX_JSON_NODES,
  parseJson,
} from '../../../../src/scanner/parse/json/json.ts';
import { expectLinear, repeat } from '../../../fixtures/cpu-cost.ts';

const MAX_BYTES = 2 * 1024 * 1024;

function readDetail(reading: JsonReading): string | null {
  return reading.ok ? null : reading.detail;
}

describe('parseJson', () => {
  test.each([
    ['{"a":}', 'not JSON at character 6'],
    ['<!doctype html>', 'not JSON at character 1'],
    ['', 'empty'],
    [' \n ', 'empty'],
    ['[1,2', 'not JSON: it breaks off after 4 characters'],
    ['{"a":"b', 'not JSON: it breaks off after 7 characters'],
    ['[1]x', 'not JSON at character 4'],
    ['[1,]', 'not JSON at character 4'],
    ['{"a":1,}', 'not JSON at character 8'],
    ['{a:1}', 'not JSON at character 2'],
    ['[01]', 'not JSON at character 3'],
    ['["\\x"]', 'not JSON at character 2'],
    ['["a\nb"]', 'not JSON at character 2'],
    ['[}', 'not JSON at character 2'],
    ['NaN', 'not JSON at character 1'],
    ['[1 2]', 'not JSON at character 4'],
  ])('names the character at which %j stops being JSON', (text, detail) => {
    expect(parseJson(text)).toMatchObject({ ok: false, detail, isOverLimit: false });
  });

  test('skips a byte order mark', () => {
    expect(parseJson('\uFEFF{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } });
  });

  test('keeps members whose names JavaScript reserves', () => {
    const reading = parseJson('{"__proto__":{"x":1},"constructor":2}');
    expect(reading.ok && Object.keys(Object(reading.value))).toEqual(['__proto__', 'constructor']);
  });

  test('reads values nested as deep as the limit, and refuses deeper values', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseJson(nested(MAX_JSON_DEPTH)).ok).toBe(true);
    expect(parseJson(nested(MAX_JSON_DEPTH + 1))).toEqual({
      ok: false,
      detail: 'deeper than 64',
      isOverLimit: true,
      offset: 0,
    });
    expect(readDetail(parseJson(`{"a":${nested(MAX_JSON_DEPTH)}}`))).toBe('deeper than 64');
  });

  test('reads as many values as the limit, the outermost included, and refuses one more value', () => {
    const list = (items: number) => `[${Array(items).fill('{}').join(',')}]`;
    expect(parseJson(list(MAX_JSON_NODES - 1)).ok).toBe(true);
    expect(readDetail(parseJson(list(MAX_JSON_NODES)))).toBe('over 50000 nodes');
  });

  test('reads JSON as the same value as JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.constantFrom('', ' ', '\n\t'), (text, space) => {
        const reading = parseJson(space + text + space);
        expect(reading).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  test('accepts a text if, and only if, JSON.parse accepts the text', () => {
    const token = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"a"', '"\\u00e9"', '"\\q"', '1', '-', '0', '.5', 'e3'],
      ...['true', 'nul', 'null', ' ', '"', '\\', '\u0001', '1.', '-0.0E+9', '\u00a0', '\uD800'],
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
        const text = tokens.join('');
        expect(parseJson(text).ok).toBe(isJson(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ['opening brackets', repeat('[')],
    ['nested objects', repeat('{"a":')],
    ['one long string', (length: number) => `["${'a'.repeat(length)}"]`],
    ['one string of escapes', (length: number) => `["${'\\u0041'.repeat(length / 6)}"]`],
    ['one long number', (length: number) => `[${'1'.repeat(length)}]`],
    ['blanks', (length: number) => `[${' '.repeat(length)}]`],
    ['quotation marks', repeat('"')],
    ['backslashes in a string', (length: number) => `"${'\\'.repeat(length)}`],
  ])('takes time in proportion to the length of the text: %s', (_text, createText) => {
    expectLinear(createText, MAX_BYTES, parseJson);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
