/**
 * Each seller has one fault and is scanned over real sockets. A row lists every check that the fault
 * changes; all other checks must give the result that a seller without faults gets.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toAnswerLine } from '../../../src/scanner/report/answer-line.ts';
import { challengeAnswer, challengeOf } from '../../fixtures/origins/crafted-challenge.ts';
import {
  type Answering,
  type CraftedOptions,
  type CraftedSeller,
  startCraftedSeller,
} from '../../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { createTestCa, selfSigned } from '../../fixtures/tls/test-ca.ts';
import { BEHAVIOUR_ROWS } from './crafted/behaviour-rows.ts';
import { CHALLENGE_ROWS } from './crafted/challenge-rows.ts';
import { DOCUMENT_ROWS } from './crafted/document-rows.ts';
import { JUDGED_ROWS, UNJUDGED_ROWS } from './crafted/limit-rows.ts';
import { MANIFEST_ROWS, SHAPE_ROWS } from './crafted/manifest-rows.ts';
import { METHOD_ROWS, METHODLESS_ROWS, SIGN_IN_ROWS } from './crafted/method-rows.ts';
import { OFFER_ROWS } from './crafted/offer-rows.ts';
import { OPENAPI_ROWS } from './crafted/openapi-rows.ts';
import { PAYABLE_ROWS } from './crafted/payable-rows.ts';
import { type Row, toResult } from './crafted/row.ts';
import { SITE_ROWS } from './crafted/site-rows.ts';
import { STACK_ROWS, VALID_ROWS } from './crafted/valid-rows.ts';
import { listCells, resultOf, startEngine } from './engine-under-test.ts';

const DAY_MS = 86_400_000;

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());
const ca = await createTestCa();
let perfectCells: readonly string[];
beforeAll(async () => {
  const { report } = await scanCrafted({});
  expect(report).toMatchObject({ grade: 'A', score: 100 });
  perfectCells = listCells({ report });
});

async function scanCrafted(options: CraftedOptions) {
  await using seller = await startCraftedSeller(options);
  const outcome = await engine.scan(seller.url, undefined, { extraCa: [ca.pem] });
  expectHarmlessRequests(seller);
  return outcome;
}

/** The scan never pays. It posts only `{}`, and only to paid resources. */
function expectHarmlessRequests({ requests }: CraftedSeller): void {
  expect(requests.length).toBeLessThanOrEqual(60);
  for (const { method, path, headers, body } of requests) {
    expect(headers).not.toHaveProperty('payment-signature');
    expect(headers).not.toHaveProperty('x-payment');
    if (method !== 'POST') {
      expect(['GET', 'HEAD']).toContain(method);
      expect(body).toBe('');
      continue;
    }
    expect({ body, type: headers['content-type'] }).toEqual({
      body: '{}',
      type: 'application/json',
    });
    expect(path).toMatch(/^(?:\/v1)?\/(?:weather|summaries|both)$/);
  }
}

function findChangedCells(outcome: Parameters<typeof listCells>[0]): readonly string[] {
  return listCells(outcome).filter((cell) => !perfectCells.includes(cell));
}

function testRows(rows: readonly Row[]) {
  test.each(rows)('$name', async ({ answers, moved: expected, says = {}, result }) => {
    const outcome = await scanCrafted({ answers });
    expect(outcome.report.results).toHaveLength(25);
    expect(findChangedCells(outcome)).toEqual(expected);
    for (const [id, words] of Object.entries(says)) {
      expect(resultOf(outcome, id).evidence).toContain(words);
    }
    if (result !== undefined) expect(toResult(outcome.report)).toEqual(result);
  });
}

describe('how a challenge is sent:', () => testRows(CHALLENGE_ROWS));
describe('the content of a challenge:', () => testRows(OFFER_ROWS));
describe('the verdict of the official clients on an offer:', () => testRows(PAYABLE_ROWS));
describe('the answers of paid resources:', () => testRows(BEHAVIOUR_ROWS));
describe('two methods of one path:', () => testRows(METHOD_ROWS));
describe('a path without a method:', () => {
  testRows(METHODLESS_ROWS);

  test('gets no POST if a document calls a POST free', async () => {
    const { answers = {} } = METHODLESS_ROWS.at(-1) ?? {};
    const seller = await startCraftedSeller({ answers });
    await engine.scan(seller.url);
    await seller[Symbol.asyncDispose]();
    expect(seller.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});
describe('sign-ins:', () => testRows(SIGN_IN_ROWS));
describe('sellers of other languages:', () => testRows(STACK_ROWS));
describe('forms that the specification allows:', () => testRows(VALID_ROWS));
describe('sellers of whom not all is known:', () => testRows(JUDGED_ROWS));
describe('sellers who hide what they sell:', () => {
  testRows(UNJUDGED_ROWS);
  test.each(UNJUDGED_ROWS)('$name: at most 64, and not known', async ({ answers, answerLine }) => {
    const { report } = await scanCrafted({ answers });
    expect(report.score).toBeLessThanOrEqual(64);
    expect(report.payableBy).toBe('unknown');
    expect(toAnswerLine(report)).toMatch(answerLine);
  });
});
describe('OpenAPI:', () => testRows(OPENAPI_ROWS));
describe('the manifest:', () => testRows([...MANIFEST_ROWS, ...SHAPE_ROWS]));
describe('other documents:', () => testRows(DOCUMENT_ROWS));
describe('the site:', () => testRows(SITE_ROWS));

describe('TLS', () => {
  test('gives the same result over https as over http', async () => {
    const tls = await ca.issue({ hosts: ['127.0.0.1'] });
    const outcome = await scanCrafted({ tls });
    expect(findChangedCells(outcome)).toEqual([]);
    expect(outcome.report.origin).toMatch(/^https:/);
  });

  test('that a proxy ends is named as the cause of http addresses', async () => {
    const tls = await ca.issue({ hosts: ['127.0.0.1'] });
    const challengeOverHttp: Answering = (request) => {
      const origin = request.origin.replace('https://', 'http://');
      const product = request.path === WEATHER.path ? WEATHER : SUMMARY;
      return request.method === 'GET' && product === SUMMARY
        ? null
        : challengeAnswer(challengeOf(product, origin));
    };
    const manifestOverHttp: Answering = ({ origin }) => ({
      status: 200,
      body: { resources: [`${origin.replace('https://', 'http://')}${WEATHER.path}`] },
    });
    const answers = {
      '/weather': challengeOverHttp,
      '/summaries': challengeOverHttp,
      '/.well-known/x402': manifestOverHttp,
    };
    const outcome = await scanCrafted({ tls, answers });
    expect(findChangedCells(outcome)).toEqual(['P3 warn http-url', 'S6 warn http-entries']);
    // The fix names the setting of each stack.
    const { fix } = resultOf(outcome, 'P3');
    for (const name of ['trust proxy', 'Resource', 'with_base_url']) expect(fix).toContain(name);
  });

  test.each([
    [
      'tls-expired',
      () => ca.issue({ hosts: ['127.0.0.1'], notAfter: new Date(Date.now() - DAY_MS) }),
    ],
    ['tls-self-signed', () => selfSigned(['127.0.0.1'])],
    ['tls-wrong-host', () => ca.issue({ hosts: ['shop.example'] })],
    [
      'tls-unknown-issuer',
      async () => (await createTestCa('Stranger')).issue({ hosts: ['127.0.0.1'] }),
    ],
  ])(
    'with the fault %s fails P1, and only directory checks are still judged',
    async (outcome, certificate) => {
      const { report } = await scanCrafted({ tls: await certificate() });
      expect(report).toMatchObject({ grade: 'F', score: 0 });
      expect(resultOf({ report }, 'P1')).toMatchObject({ status: 'fail', outcome });
      const otherResults = report.results.filter(
        ({ id, category }) => id !== 'P1' && category !== 'directory',
      );
      expect(new Set(otherResults.map(({ basis }) => basis))).toEqual(new Set(['not_evaluated']));
    },
  );
});
