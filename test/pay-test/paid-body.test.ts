import { expect, test } from 'vitest';
import { hasPaidPart } from '../../src/pay-test/paid-body.ts';

const SOLD = { city: 'Bern', sky: 'clear', wind: 3, at: 17 };
const ALIKE = { ...SOLD, at: 18 };

function answer(body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { ok: true, status: 200, headers: {}, body: Buffer.from(text), ms: 1 } as const;
}

test.each([
  ['equal, in a member', SOLD, { preview: SOLD }, true],
  ['alike, deep in lists', SOLD, { data: [[{ rows: [ALIKE] }]] }, true],
  ['in a list at the top', SOLD, [{ x: 1 }, ALIKE], true],
  ['a member of the resource has its name', SOLD, { data: { resource: SOLD } }, true],
  ['equal, with one leaf', { ok: 'yes' }, { result: { ok: 'yes' } }, true],
  ['a list', ['a', 'b'], { sample: ['a', 'b'] }, true],
  ['text', 'the secret', { preview: ' the secret\n' }, true],
  ['a JSON string', '"the secret"', { preview: 'the secret' }, true],
  ['JSON as text', SOLD, { preview: JSON.stringify(SOLD) }, true],
  ['two leaves of which one differs', { a: 1, b: 2 }, { preview: { a: 1, b: 3 } }, false],
  ['over half differs', SOLD, { preview: { city: 'Bern', sky: '', wind: 0, at: 0 } }, false],
  ['another shape', SOLD, { preview: { ...SOLD, more: 1 } }, false],
  ['an empty resource', {}, { meta: {}, list: [] }, false],
  ['a number', '2', { x402Version: 2 }, false],
  ['accepts', SOLD, { accepts: [{ extra: SOLD }] }, false],
  ['resource', SOLD, { resource: SOLD }, false],
  ['extensions', SOLD, { extensions: { bazaar: { example: SOLD } } }, false],
  ['a challenge in a member', SOLD, { challenge: { accepts: [], extensions: SOLD } }, false],
  ['no JSON', SOLD, 'pay first', false],
] as const)(
  'the reader recognises whether a refusal holds %s: %#',
  (_what, sold, refusal, isHeld) => {
    expect(hasPaidPart(answer(sold), answer(refusal).body, 2)).toBe(isHeld);
  },
);

test('the reader leaves out outputSchema only in version 1', () => {
  const refusal = answer({ outputSchema: SOLD }).body;
  expect(hasPaidPart(answer(SOLD), refusal, 1)).toBe(false);
  expect(hasPaidPart(answer(SOLD), refusal, 2)).toBe(true);
});
