import { expect, test } from 'vitest';
import { hasPaidPart } from '../../../src/cli/pay-test/replies.ts';

const SOLD_BODY = { city: 'Bern', sky: 'clear', wind: 3, at: 17 };
const SIMILAR_BODY = { ...SOLD_BODY, at: 18 };

function answer(body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { ok: true, status: 200, headers: {}, body: Buffer.from(text), ms: 1 } as const;
}

test.each([
  ['equal, in a member', SOLD_BODY, { preview: SOLD_BODY }, true],
  ['alike, deep in lists', SOLD_BODY, { data: [[{ rows: [SIMILAR_BODY] }]] }, true],
  ['in a list at the top', SOLD_BODY, [{ x: 1 }, SIMILAR_BODY], true],
  ['a member of the resource has its name', SOLD_BODY, { data: { resource: SOLD_BODY } }, true],
  ['equal, with one leaf', { ok: 'yes' }, { result: { ok: 'yes' } }, true],
  ['a list', ['a', 'b'], { sample: ['a', 'b'] }, true],
  ['text', 'the secret', { preview: ' the secret\n' }, true],
  ['a JSON string', '"the secret"', { preview: 'the secret' }, true],
  ['JSON as text', SOLD_BODY, { preview: JSON.stringify(SOLD_BODY) }, true],
  ['two leaves of which one differs', { a: 1, b: 2 }, { preview: { a: 1, b: 3 } }, false],
  ['over half differs', SOLD_BODY, { preview: { city: 'Bern', sky: '', wind: 0, at: 0 } }, false],
  ['another shape', SOLD_BODY, { preview: { ...SOLD_BODY, more: 1 } }, false],
  ['an empty resource', {}, { meta: {}, list: [] }, false],
  ['a number', '2', { x402Version: 2 }, false],
  ['accepts', SOLD_BODY, { accepts: [{ extra: SOLD_BODY }] }, false],
  ['resource', SOLD_BODY, { resource: SOLD_BODY }, false],
  ['extensions', SOLD_BODY, { extensions: { bazaar: { example: SOLD_BODY } } }, false],
  [
    'a challenge in a member',
    SOLD_BODY,
    { challenge: { accepts: [], extensions: SOLD_BODY } },
    false,
  ],
  ['no JSON', SOLD_BODY, 'pay first', false],
] as const)(
  'hasPaidPart tells whether a refusal contains the sold body: %s',
  (_case, soldBody, refusal, hasPart) => {
    expect(hasPaidPart(answer(soldBody), answer(refusal).body, 2)).toBe(hasPart);
  },
);

test('sold content in outputSchema is ignored only in version 1', () => {
  const refusal = answer({ outputSchema: SOLD_BODY }).body;
  expect(hasPaidPart(answer(SOLD_BODY), refusal, 1)).toBe(false);
  expect(hasPaidPart(answer(SOLD_BODY), refusal, 2)).toBe(true);
});
