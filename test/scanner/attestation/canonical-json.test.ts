import { expect, test } from 'vitest';
import { toCanonicalJson } from '../../../src/scanner/attestation/envelope.ts';

test('canonical JSON writes numbers, strings and member order as RFC 8785, section 3.2.3, says', () => {
  const value = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0],
    string: '\u20ac$\u000f\nA\'B"\\\\"/',
    literals: [null, true, false],
  };
  expect(toCanonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, ö: 7 };
  expect(Object.keys(JSON.parse(toCanonicalJson(names)))).toEqual([
    '1',
    '\r',
    '\u0080',
    'ö',
    '\u20ac',
    '\ud83d\ude00',
    '\ufb33',
  ]);
});

test('lone surrogates become U+FFFD, undefined members are left out, and `__proto__` and `toJSON` are kept', () => {
  expect(toCanonicalJson({ 'a\ud800': 'b\udc00c', none: undefined })).toBe(
    '{"a\ufffd":"b\ufffdc"}',
  );
  expect(toCanonicalJson(JSON.parse('{"__proto__":{"x":1},"toJSON":"y"}'))).toBe(
    '{"__proto__":{"x":1},"toJSON":"y"}',
  );
});

test('a value has the same canonical JSON after a round trip through JSON', () => {
  const value = { list: [1, { b: -0, a: undefined }], text: 'é\u2028' };
  expect(toCanonicalJson(JSON.parse(JSON.stringify(value)))).toBe(toCanonicalJson(value));
});
