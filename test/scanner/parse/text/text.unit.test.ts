import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { showJson } from '../../../../src/scanner/parse/json/json.ts';
import { cleanText, quoteText } from '../../../../src/scanner/parse/text/text.ts';
import { expectLinear, repeat } from '../../../fixtures/cpu-cost.ts';

const HIDDEN_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\p{Default_Ignorable_Code_Point}/u;
const anyText = fc.string({ unit: 'binary', maxLength: 300 });

describe('cleanText', () => {
  test.each([
    ['a\r\n\tb', 'a b'],
    ['  padded  ', 'padded'],
    ['right\u202Eto left', 'rightto left'],
    ['tag\u{E0041}\u{E0042}s', 'tags'],
    ['zero\u200Bwidth\u2060joiner\uFEFF', 'zerowidthjoiner'],
    ['nul\u0000 bell\u0007 escape\u001B[31m', 'nul bell escape[31m'],
    ['half \uD83D a pair', 'half  a pair'],
    ['line\u2028separator', 'line separator'],
    ['hidden\u{E0100}\u{E0101} selectors', 'hidden selectors'],
    ['filler\u3164', 'filler'],
    ['Cafe\u0301', 'Café'],
    ['naïve 漢字 😀', 'naïve 漢字 😀'],
  ])('shows %j as %j', (text, output) => {
    expect(cleanText(text, 80)).toBe(output);
  });

  test('keeps a text as long as the limit, by code points, and marks a cut', () => {
    expect(cleanText('😀'.repeat(10), 10)).toBe('😀'.repeat(10));
    expect(cleanText('😀'.repeat(11), 10)).toBe(`${'😀'.repeat(9)}…`);
  });

  test('marks a cut also if nearly all of the text was stripped', () => {
    expect(cleanText(`a${'\u200B'.repeat(10_000)}b`, 10)).toBe('a…');
  });

  test('never shows a hidden character, or more than the limit', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 100 }), (text, maxChars) => {
        const output = cleanText(text, maxChars);
        expect(output).not.toMatch(HIDDEN_CHARACTERS);
        expect(Array.from(output).length).toBeLessThanOrEqual(maxChars);
        expect(output.normalize('NFC')).toBe(output);
      }),
    );
  });

  test('takes time at most in proportion to the length of the text', () => {
    expectLinear(repeat('\u200B\u202E'), 2_000_000, (text) => cleanText(text, 500));
  });
});

describe('quoteText', () => {
  test('escapes characters that would end the quotation', () => {
    expect(quoteText('say "hi" \\', 80)).toBe('"say \\"hi\\" \\\\"');
  });

  test('holds only the cleaned text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const quoted = quoteText(text, 60);
        expect(quoted).not.toMatch(HIDDEN_CHARACTERS);
        expect(JSON.parse(quoted)).toBe(cleanText(text, 60));
      }),
    );
  });
});

describe('showJson', () => {
  test.each([
    [undefined, 'missing'],
    [null, 'null'],
    [0.05, '0.05'],
    [true, 'true'],
    ['', '""'],
    ['USDC', '"USDC"'],
    [[], '[]'],
    [{}, '{}'],
    [[1, 'a', null, { b: [] }], '[1,"a",null,{"b":[]}]'],
    [{ 'a\u202Eb': '\u0000x' }, '{"a\\u202Eb":"\\u0000x"}'],
  ])('shows %j as %s', (value, output) => {
    expect(showJson(value)).toBe(output);
  });

  test('is JSON if the text is not cut', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2, noUnicodeString: true }), (value) => {
        const output = showJson(JSON.parse(JSON.stringify(value)), 10_000);
        expect(output).not.toMatch(HIDDEN_CHARACTERS);
        expect(() => JSON.parse(output)).not.toThrow();
      }),
    );
  });

  test('cuts long values at any depth and width', () => {
    const longList = Array(50_000).fill({ a: 'b' });
    const output = showJson(longList, 40);
    expect(Array.from(output).length).toBeLessThanOrEqual(40);
    expect(output).toMatch(/^\[\{"a":"b"\},.*…$/);
  });
});
