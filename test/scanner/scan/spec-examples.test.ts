/** Examples that the specifications print as valid must not fail. Each one is sold by its own origin. */
import { afterAll, expect, test } from 'vitest';
import type { CheckResult } from '../../../src/scanner/model/report.ts';
import {
  bodyAnswer,
  challengeAnswer,
  challengeOf,
  offerOf,
  versionOne,
} from '../../fixtures/origins/crafted-challenge.ts';
import { type Answering, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { SPEC_EXAMPLES, type SpecExample } from '../../fixtures/x402-specs/examples.ts';
import { resultOf, startEngine } from './engine-under-test.ts';

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

/** Declares no price in dollars, because the examples do not state one. */
const withoutPrice: Answering = (_, usual) => ({
  ...usual,
  body: String(usual.body).replaceAll(/"x-payment-info":\{.*?\]\},/g, ''),
});

function challengeWith(example: SpecExample, origin: string): object {
  const { accepts: _, ...versionOneMembers } = versionOne(WEATHER, origin) as {
    accepts: readonly object[];
  };
  if ('offer' in example) {
    const isOld = example.offer['maxAmountRequired'] !== undefined;
    return {
      ...(isOld ? versionOneMembers : challengeOf(WEATHER, origin)),
      accepts: [example.offer],
    };
  }
  const { challenge } = example;
  const { accepts } = challenge;
  if (Array.isArray(accepts) && accepts.length > 0) return challenge;
  return challenge['x402Version'] === 1
    ? { ...challenge, ...versionOne(WEATHER, origin) }
    : { ...challenge, accepts: [offerOf(WEATHER)] };
}

async function judgeExample(example: SpecExample) {
  const selling: Answering = ({ method, origin }, usual) => {
    if (method !== 'GET' && usual.status !== 402) return usual;
    const challenge = challengeWith(example, origin);
    const isOld = 'x402Version' in challenge && challenge.x402Version === 1;
    return isOld ? bodyAnswer(challenge) : challengeAnswer(challenge);
  };
  await using seller = await startCraftedSeller({
    answers: { '/weather': selling, '/openapi.json': withoutPrice },
  });
  const outcome = await engine.scan(seller.url);
  const results = ['P3', 'P4', 'P6', 'P7'].map((id) => resultOf(outcome, id));
  return { results, payability: outcome.report.payability?.[0] };
}

function isFailed({ id, status, outcome }: CheckResult): boolean {
  // Version 1 has no header, and P4 requires the header of version 2 even if a client signs.
  return status === 'fail' && !(id === 'P4' && outcome === 'v1-only');
}

const namedExamples = SPEC_EXAMPLES.map(
  (example, index) => [`${index} ${example.source}`, example] as const,
);

test.each(namedExamples)(
  'example %s fails only if the official client refuses it',
  async (_, example) => {
    const { results, payability } = await judgeExample(example);
    const failed = results.filter(isFailed);
    if (failed.length === 0) return;
    // An example that the client refuses may fail, and the evidence then quotes the client.
    expect(payability?.payableBy, failed.map(({ evidence }) => evidence).join('; ')).not.toBe(
      'default',
    );
    expect(results.find(({ id }) => id === 'P3')?.evidence).toContain('the official client says');
  },
);

test('the specifications have examples of both versions, and of every scheme with a client in the catalog', () => {
  const text = JSON.stringify(SPEC_EXAMPLES);
  expect(SPEC_EXAMPLES.length).toBeGreaterThan(50);
  for (const scheme of ['exact', 'upto', 'batch-settlement', 'auth-capture']) {
    expect(text).toContain(`"scheme":"${scheme}"`);
  }
  expect(text).toContain('"x402Version":1');
  expect(text).toContain('"x402Version":2');
});
