/** Shops that sell over x402 and MPP: only x402 is graded, and the report lists both ways to pay. */
import { afterAll, describe, expect, test } from 'vitest';
import { formatMarkdown } from '../../../src/cli/formatters/markdown.ts';
import { formatText } from '../../../src/cli/formatters/text.ts';
import { parseRecording } from '../../../src/scanner/probe/read-recording.ts';
import { toRecording } from '../../../src/scanner/probe/recording.ts';
import { toAnswerLine } from '../../../src/scanner/report/answer-line.ts';
import { printable } from '../../cli/printable.ts';
import { challengeAnswer, challengeOf } from '../../fixtures/origins/crafted-challenge.ts';
import { type CraftedOptions, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { NEWER_VERSION, OLDER_VERSION, resultOf, startEngine } from './engine-under-test.ts';

const MPP_HEADER =
  'Payment id="1", method="tempo", intent="charge", Payment id="2", method="stripe"';
const MPP_ANSWER = { status: 402, headers: { 'www-authenticate': MPP_HEADER }, body: {} };
const WEATHER_WAY = {
  method: 'GET',
  path: '/weather',
  protocol: 'MPP',
  methods: ['tempo', 'stripe'],
};
const SUMMARY_WAY = { ...WEATHER_WAY, method: 'POST', path: '/summaries' };

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

type Sold = typeof WEATHER | typeof SUMMARY;

/** Documents that sell `sold` over MPP only, in MPP's own form, and the other route over x402. */
function documentsOverMpp(sold: Sold): NonNullable<CraftedOptions['answers']> {
  return {
    '/openapi.json': (_, usual) => {
      const document = JSON.parse(String(usual.body));
      const operation = document.paths[sold.path][sold.method];
      operation.security = [];
      operation['x-payment-info'] = { amount: '10000', currency: 'usd', method: 'tempo' };
      return { ...usual, body: document };
    },
    '/.well-known/x402': ({ origin }, usual) => {
      const other = sold === WEATHER ? SUMMARY : WEATHER;
      return { ...usual, body: { version: 1, resources: [origin + other.path] } };
    },
  };
}

const WEATHER_OVER_MPP = { ...documentsOverMpp(WEATHER), '/weather': MPP_ANSWER };

async function scan(answers: CraftedOptions['answers'], version = NEWER_VERSION) {
  await using seller = await startCraftedSeller({ ...(answers ? { answers } : {}) });
  return await engine.scan(seller.url, version);
}

describe('MPP on one route, x402 on another', () => {
  test.each([
    ['GET', WEATHER_OVER_MPP, WEATHER_WAY],
    ['POST', { ...documentsOverMpp(SUMMARY), 'POST /summaries': MPP_ANSWER }, SUMMARY_WAY],
  ] as const)('costs no points if the %s route sells over MPP', async (_, answers, way) => {
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

  test('passes under the catalog that sends no POST', async () => {
    const outcome = await scan(
      { ...documentsOverMpp(SUMMARY), '/summaries': MPP_ANSWER },
      OLDER_VERSION,
    );
    expect(resultOf(outcome, 'P2')).toMatchObject({ status: 'pass', outcome: 'challenged' });
  });

  test('is stated in text and Markdown', async () => {
    const { report } = await scan(WEATHER_OVER_MPP);
    const scanWithMpp = printable({ report, printed: report.results });
    expect(formatText(scanWithMpp)).toContain(
      '  OTHER WAYS TO PAY (not graded)\n    GET /weather over MPP: tempo, stripe\n',
    );
    expect(formatMarkdown(scanWithMpp)).toContain(
      '| <code>GET /weather</code> | MPP | <code>tempo, stripe</code> |',
    );
    const plainOutcome = await scan({});
    expect(plainOutcome.report.otherWays).toEqual([]);
    const scanWithoutMpp = printable({
      report: plainOutcome.report,
      printed: plainOutcome.report.results,
    });
    expect(formatText(scanWithoutMpp)).not.toContain('OTHER WAYS');
    expect(formatMarkdown(scanWithoutMpp)).not.toContain('other way');
  });

  test('is in the replay of a recording, also of an older recording that lists the route as silent', async () => {
    const { report, observations } = await scan(WEATHER_OVER_MPP);
    const recording = parseRecording(
      JSON.parse(JSON.stringify(toRecording(report, observations))),
      'the recording',
    );
    const replayed = await engine.replay(recording, NEWER_VERSION);
    expect(JSON.stringify(replayed.report)).toBe(JSON.stringify(report));
    const { payability } = recording.observations;
    if (payability === null) throw new Error('no client was run');
    const silent = [{ method: 'GET', path: '/weather' }];
    const earlierObservations = {
      ...recording.observations,
      payability: { ...payability, silent },
    };
    const earlierReplay = await engine.replay(
      { ...recording, observations: earlierObservations },
      NEWER_VERSION,
    );
    expect(earlierReplay.report).toEqual(report);
  });
});

test('a route that the documents sell over x402, and that answers over MPP only, is missing its challenge', async () => {
  const outcome = await scan({ '/weather': MPP_ANSWER });
  expect(resultOf(outcome, 'P2')).toMatchObject({ status: 'warn', outcome: 'some-missing' });
  expect(resultOf(outcome, 'P2').evidence).toContain('1 of 2 paid resources asked for payment');
  expect(resultOf(outcome, 'P2').fix).toMatch(/^Send the x402 challenge beside the other one/);
  expect(outcome.report.otherWays).toEqual([WEATHER_WAY]);
});

test('a route with x402 and MPP is judged by its x402 challenge, and MPP is listed as another way to pay', async () => {
  const outcome = await scan({
    '/weather': ({ origin }) => {
      const usual = challengeAnswer(challengeOf(WEATHER, origin));
      return { ...usual, headers: { ...usual.headers, 'www-authenticate': MPP_HEADER } };
    },
  });
  expect(outcome.report).toMatchObject({ grade: 'A', otherWays: [WEATHER_WAY] });
  expect(outcome.report.payability).toHaveLength(2);
  expect(toAnswerLine(outcome.report)).toMatch(
    /^Yes: default clients can pay 2 of 2 resources, [^()]*$/,
  );
});

test('an origin without x402 still has MPP in its report', async () => {
  const outcome = await scan({ '/weather': MPP_ANSWER, [SUMMARY.path]: MPP_ANSWER });
  const { report } = outcome;
  expect(resultOf(outcome, 'P2')).toMatchObject({ status: 'fail', outcome: 'other-protocol' });
  expect(resultOf(outcome, 'S5')).toMatchObject({ basis: 'not_evaluated' });
  expect(report).toMatchObject({ grade: 'F', payableBy: null });
  expect(report.otherWays).toEqual([WEATHER_WAY, SUMMARY_WAY]);
  expect(toAnswerLine(report)).toMatch(
    /^No: the 402 asks over MPP, not over x402: .*methods: tempo, stripe\.$/,
  );
});
