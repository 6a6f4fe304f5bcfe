/** What the specifications print as valid must not fail: each example, sold by an origin of its own. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { challengeAnswer, challengeOf } from '../fixtures/origins/crafted-challenge.ts';
import { type Answering, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { SPEC_EXAMPLES } from '../fixtures/x402-specs/examples.ts';
import { type EngineUnderTest, resultOf, startEngine } from './engine-under-test.ts';

let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

it.each(SPEC_EXAMPLES)('%s', async (_, offer) => {
  const selling: Answering = ({ method, origin }, usual) =>
    method === 'GET' || usual.status === 402
      ? challengeAnswer({ ...challengeOf(WEATHER, origin), accepts: [offer] })
      : usual;
  const seller = await startCraftedSeller({
    answers: {
      '/weather': selling,
      // Declares another price, in dollars: no example says what it is worth.
      '/openapi.json': (_, usual) => ({
        ...usual,
        body: String(usual.body).replaceAll(/"x-payment-info":\{.*?\]\},/g, ''),
      }),
    },
  });
  try {
    const outcome = await engine.scan(seller.url);
    for (const id of ['P3', 'P4', 'P6', 'P7']) {
      const { status, evidence, outcome: seen } = resultOf(outcome, id);
      // What the client refuses all the same is told in its words.
      const isRefused = id === 'P3' && evidence.includes('the official client says');
      expect([id, seen, isRefused || status !== 'fail', evidence]).toEqual([
        id,
        seen,
        true,
        evidence,
      ]);
    }
  } finally {
    await seller.stop();
  }
});
