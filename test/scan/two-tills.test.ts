/** Shops that sell over x402 and MPP: only x402 is graded, and the report lists both ways to pay. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatMarkdown } from '../../src/cli/formatters/markdown.ts';
import { formatText } from '../../src/cli/formatters/text.ts';
import { parseRecording } from '../../src/probe/read-recording.ts';
import { toRecording } from '../../src/probe/recording.ts';
import { toAnswerLine } from '../../src/words/answer-line.ts';
import { printable } from '../cli/printable.ts';
import { challengeAnswer, challengeOf } from '../fixtures/origins/crafted-challenge.ts';
import { type CraftedOptions, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../fixtures/sellers/seller-documents.ts';
import {
  type EngineUnderTest,
  NEWER_VERSION,
  OLDER_VERSION,
  resultOf,
  startEngine,
} from './engine-under-test.ts';

const MPP = 'Payment id="1", method="tempo", intent="charge", Payment id="2", method="stripe"';
const SOLD = { status: 402, headers: { 'www-authenticate': MPP }, body: {} };
const WEATHER_WAY = {
  method: 'GET',
  path: '/weather',
  protocol: 'MPP',
  methods: ['tempo', 'stripe'],
};
const SUMMARY_WAY = { ...WEATHER_WAY, method: 'POST', path: '/summaries' };

let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

async function scan(answers: CraftedOptions['answers'], version = NEWER_VERSION) {
  await using seller = await startCraftedSeller({ ...(answers ? { answers } : {}) });
  return await engine.scan(seller.url, version);
}

describe('MPP on one route, x402 on another', () => {
  it.each([
    ['GET', { '/weather': SOLD }, WEATHER_WAY],
    ['POST', { 'POST /summaries': SOLD }, SUMMARY_WAY],
  ] as const)('costs nothing if %s is the other protocol', async (_, answers, way) => {
    const outcome = await scan(answers);
    const { report } = outcome;
    expect(report).toMatchObject({ grade: 'A', payableBy: 'default', otherWays: [way] });
    expect(report.payability).toHaveLength(1);
    expect(report.payability?.[0]?.path).not.toBe(way.path);
    expect(toAnswerLine(report)).toMatch(
      /^Yes: default clients can pay 1 of 1 resource, .*\(1 more is sold over MPP\)$/,
    );
    expect(resultOf(outcome, 'P2')).toMatchObject({ status: 'pass', outcome: 'challenged' });
    expect(resultOf(outcome, 'P2').evidence).toContain('1 more is sold over MPP: tempo, stripe');
    expect(resultOf(outcome, 'P3').evidence).toContain('1 of 1');
    expect(resultOf(outcome, 'P5').evidence).not.toContain(way.path);
    expect(resultOf(outcome, 'S5').status).toBe('pass');
  });

  it('passes under the catalog that sends no POST', async () => {
    const outcome = await scan({ '/summaries': { ...SOLD } }, OLDER_VERSION);
    expect(resultOf(outcome, 'P2')).toMatchObject({ status: 'pass', outcome: 'challenged' });
  });

  it('is stated in text and Markdown', async () => {
    const { report } = await scan({ '/weather': SOLD });
    const shown = printable({ report, printed: report.results });
    expect(formatText(shown)).toContain(
      '  OTHER WAYS TO PAY (not graded)\n    GET /weather over MPP: tempo, stripe\n',
    );
    expect(formatMarkdown(shown)).toContain(
      '| <code>GET /weather</code> | MPP | <code>tempo, stripe</code> |',
    );
    const plain = await scan({});
    expect(plain.report.otherWays).toEqual([]);
    const without = printable({ report: plain.report, printed: plain.report.results });
    expect(formatText(without)).not.toContain('OTHER WAYS');
    expect(formatMarkdown(without)).not.toContain('other way');
  });

  it('is in the replay of a recording, also of an older one whose clients called the route silent', async () => {
    const { report, observations } = await scan({ '/weather': SOLD });
    const recording = parseRecording(
      JSON.parse(JSON.stringify(toRecording(report, observations))),
      'the recording',
    );
    const replayed = await engine.replay(recording, NEWER_VERSION);
    expect(JSON.stringify(replayed.report)).toBe(JSON.stringify(report));
    const { payability } = recording.observations;
    if (payability === null) throw new Error('no client was run');
    const silent = [{ method: 'GET', path: '/weather' }];
    const earlier = { ...recording.observations, payability: { ...payability, silent } };
    const again = await engine.replay({ ...recording, observations: earlier }, NEWER_VERSION);
    expect(again.report).toEqual(report);
  });
});

it('a route with x402 and MPP is judged by its x402 half, and MPP is listed as another way to pay', async () => {
  const both = await scan({
    '/weather': ({ origin }) => {
      const usual = challengeAnswer(challengeOf(WEATHER, origin));
      return { ...usual, headers: { ...usual.headers, 'www-authenticate': MPP } };
    },
  });
  expect(both.report).toMatchObject({ grade: 'A', otherWays: [WEATHER_WAY] });
  expect(both.report.payability).toHaveLength(2);
  expect(toAnswerLine(both.report)).toMatch(
    /^Yes: default clients can pay 2 of 2 resources, [^()]*$/,
  );
});

it('an origin without x402 still has MPP in its report', async () => {
  const outcome = await scan({ '/weather': SOLD, [SUMMARY.path]: SOLD });
  const { report } = outcome;
  expect(resultOf(outcome, 'P2')).toMatchObject({ status: 'fail', outcome: 'other-protocol' });
  expect(resultOf(outcome, 'S5')).toMatchObject({ basis: 'not_evaluated' });
  expect(report).toMatchObject({ grade: 'F', payableBy: null });
  expect(report.otherWays).toEqual([WEATHER_WAY, SUMMARY_WAY]);
  expect(toAnswerLine(report)).toMatch(
    /^No: the 402 asks over MPP, not over x402: .*methods: tempo, stripe\.$/,
  );
});
