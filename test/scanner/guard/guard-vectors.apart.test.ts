import { expect, test } from 'vitest';
import { isBlockedAddress } from '../../../src/scanner/guard/address.ts';
import { OriginRefused } from '../../../src/scanner/guard/failures.ts';
import { parseOrigin, resolveSameOrigin, validateUrl } from '../../../src/scanner/guard/origin.ts';
import { textVectors, titleOf, VECTORS } from '../../fixtures/vectors/ssrf-vectors.ts';

test('every vector has a kind that some suite runs', () => {
  const counts = Object.fromEntries(
    ['ip', 'url', 'secondary', 'config', 'dns', 'redirect'].map((kind) => [
      kind,
      VECTORS.filter((vector) => vector.kind === kind).length,
    ]),
  );
  expect(VECTORS).toHaveLength(276);
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(276);
  expect(new Set(VECTORS.map(({ id }) => id)).size).toBe(276);
});

for (const vector of textVectors('ip')) {
  test(titleOf(vector), () => {
    expect(isBlockedAddress(vector.input)).toBe(vector.expect === 'reject');
  });
}

for (const vector of textVectors('url')) {
  test(titleOf(vector), () => {
    if (vector.expect === 'allow') {
      expect(validateUrl(vector.input)).toBeInstanceOf(URL);
      return;
    }
    const refusal = findRefusal(vector.input);
    expect(refusal).toBeInstanceOf(OriginRefused);
    expect(refusal).toMatchObject({ code: 'invalid_url', reason: vector.reason });
  });
}

for (const vector of textVectors('secondary')) {
  test(`${titleOf(vector)} (${vector.where})`, () => {
    expect(resolveSameOrigin(parseOrigin('https://seller.example.com'), vector.input)).toBeNull();
  });
}

for (const vector of textVectors('config')) {
  test(titleOf(vector), () => {
    const input = vector.input.replace('OWN_BASE_URL', 'scanner.example.com');
    expect(parseOrigin(input).url).toBe('https://scanner.example.com');
  });
}

function findRefusal(input: string): unknown {
  try {
    return validateUrl(input);
  } catch (error) {
    return error;
  }
}
