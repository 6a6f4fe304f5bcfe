/** If one official client signs a challenge but another refuses all of it, the report says that nobody can pay. */
import { afterAll, expect, test } from 'vitest';
import { toAnswerLine } from '../../../src/scanner/report/answer-line.ts';
import { challengeAnswer, challengeOf } from '../../fixtures/origins/crafted-challenge.ts';
import { type Answering, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { resultOf, startEngine } from './engine-under-test.ts';

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

async function scanWith(change: Readonly<Record<string, unknown>>) {
  const toSelling =
    (product: typeof WEATHER | typeof SUMMARY): Answering =>
    ({ origin }, usual) =>
      usual.status === 402
        ? challengeAnswer({ ...challengeOf(product, origin), ...change })
        : usual;
  await using seller = await startCraftedSeller({
    answers: { '/weather': toSelling(WEATHER), '/summaries': toSelling(SUMMARY) },
  });
  return await engine.scan(seller.url);
}

test.each([
  ['no version', { x402Version: undefined }, '/x402Version: missing', 'wrong-version'],
  ['a version as text', { x402Version: '2' }, '/x402Version: "2"', 'wrong-version'],
  ['a version of the future', { x402Version: 3 }, '/x402Version: 3', 'wrong-version'],
  [
    'an address as resource',
    { resource: 'https://a.example' },
    '/resource is "https',
    'bad-resource-url',
  ],
  [
    'a resource without an address',
    { resource: { tags: [] } },
    '/resource/url is missing',
    'bad-resource-url',
  ],
] as const)(
  'for a challenge with %s, the answer line says No and names the member',
  async (_, change, member, outcome) => {
    const result = await scanWith(change);
    const { report } = result;
    expect([report.payableBy, report.grade, resultOf(result, 'P3').outcome]).toEqual([
      'nobody',
      'F',
      outcome,
    ]);
    expect(toAnswerLine(report)).toMatch(/^No: /);
    expect(toAnswerLine(report)).toContain(member);
  },
);

test('a challenge without a resource gets a warning, and default clients pay it', async () => {
  const result = await scanWith({ resource: null });
  expect(result.report.payableBy).toBe('default');
  expect(resultOf(result, 'P3').outcome).toBe('no-resource');
});
