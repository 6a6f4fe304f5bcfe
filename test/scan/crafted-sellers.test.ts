/**
 * Each seller has one fault and is scanned over real sockets. A row lists every check that the fault
 * changes; all other checks must give the result that a seller without faults gets.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { challengeAnswer, challengeOf } from '../fixtures/origins/crafted-challenge.ts';
import {
  type Answering,
  type CraftedOptions,
  type CraftedSeller,
  startCraftedSeller,
} from '../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { createTestCa, selfSigned, type TestCa } from '../fixtures/tls/test-ca.ts';
import { BEHAVIOUR_ROWS } from './crafted/behaviour-rows.ts';
import { CHALLENGE_ROWS } from './crafted/challenge-rows.ts';
import { DOCUMENT_ROWS } from './crafted/document-rows.ts';
import { MANIFEST_ROWS, SHAPE_ROWS } from './crafted/manifest-rows.ts';
import { METHOD_ROWS, METHODLESS_ROWS, SIGN_IN_ROWS } from './crafted/method-rows.ts';
import { OFFER_ROWS } from './crafted/offer-rows.ts';
import { OPENAPI_ROWS } from './crafted/openapi-rows.ts';
import { PAYABLE_ROWS } from './crafted/payable-rows.ts';
import type { Row } from './crafted/row.ts';
import { SITE_ROWS } from './crafted/site-rows.ts';
import { STACK_ROWS, VALID_ROWS } from './crafted/valid-rows.ts';
import { cells, type EngineUnderTest, resultOf, startEngine } from './engine-under-test.ts';

const DAY_MS = 86_400_000;

let engine: EngineUnderTest;
let ca: TestCa;
let perfect: readonly string[];

beforeAll(async () => {
  engine = await startEngine();
  ca = await createTestCa();
  const { report } = await scanned({});
  expect(report).toMatchObject({ grade: 'A', score: 100 });
  perfect = cells({ report });
});
afterAll(() => engine[Symbol.asyncDispose]());

async function scanned(options: CraftedOptions) {
  await using seller = await startCraftedSeller(options);
  const outcome = await engine.scan(seller.url, undefined, { extraCa: [ca.pem] });
  expectManners(seller);
  return outcome;
}

/** The scan never pays. It posts only `{}`, and only to paid resources. */
function expectManners({ requests }: CraftedSeller): void {
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

function moved(outcome: Parameters<typeof cells>[0]): readonly string[] {
  return cells(outcome).filter((cell) => !perfect.includes(cell));
}

function table(rows: readonly Row[]) {
  it.each(rows)('$name', async ({ answers, moved: expected, says = {} }) => {
    const outcome = await scanned({ answers });
    expect(outcome.report.results).toHaveLength(25);
    expect(moved(outcome)).toEqual(expected);
    for (const [id, words] of Object.entries(says)) {
      expect(resultOf(outcome, id).evidence).toContain(words);
    }
  });
}

describe('how a challenge is sent:', () => table(CHALLENGE_ROWS));
describe('the content of a challenge:', () => table(OFFER_ROWS));
describe('the verdict of the official clients on an offer:', () => table(PAYABLE_ROWS));
describe('the answers of paid resources:', () => table(BEHAVIOUR_ROWS));
describe('two methods of one path:', () => table(METHOD_ROWS));
describe('a path without a method:', () => {
  table(METHODLESS_ROWS);

  it('gets no POST if a document calls one free', async () => {
    const { answers = {} } = METHODLESS_ROWS.at(-1) ?? {};
    const seller = await startCraftedSeller({ answers });
    await engine.scan(seller.url);
    await seller[Symbol.asyncDispose]();
    expect(seller.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});
describe('sign-ins', () => table(SIGN_IN_ROWS));
describe('sellers of other languages', () => table(STACK_ROWS));
describe('forms that the specification allows:', () => {
  table(VALID_ROWS);
  it.each(VALID_ROWS)('$name: $grade', async ({ answers, grade }) => {
    expect((await scanned({ answers })).report.grade).toBe(grade);
  });
});
describe('OpenAPI', () => table(OPENAPI_ROWS));
describe('the manifest:', () => table([...MANIFEST_ROWS, ...SHAPE_ROWS]));
describe('other documents:', () => table(DOCUMENT_ROWS));
describe('the site:', () => table(SITE_ROWS));

describe('TLS', () => {
  it('gives the same result over https as over http', async () => {
    const tls = await ca.issue({ hosts: ['127.0.0.1'] });
    const outcome = await scanned({ tls });
    expect(moved(outcome)).toEqual([]);
    expect(outcome.report.origin).toMatch(/^https:/);
  });

  it('distinguishes a proxy that ends TLS from a wrong address', async () => {
    const tls = await ca.issue({ hosts: ['127.0.0.1'] });
    const plain: Answering = (request) => {
      const origin = request.origin.replace('https://', 'http://');
      const sold = request.path === WEATHER.path ? WEATHER : SUMMARY;
      return request.method === 'GET' && sold === SUMMARY
        ? null
        : challengeAnswer(challengeOf(sold, origin));
    };
    const entries: Answering = ({ origin }) => ({
      status: 200,
      body: { resources: [`${origin.replace('https://', 'http://')}${WEATHER.path}`] },
    });
    const answers = { '/weather': plain, '/summaries': plain, '/.well-known/x402': entries };
    const outcome = await scanned({ tls, answers });
    expect(moved(outcome)).toEqual(['P3 warn http-url', 'S6 warn http-entries']);
    // The fix names the setting of each stack.
    const { fix } = resultOf(outcome, 'P3');
    for (const name of ['trust proxy', 'Resource', 'with_base_url']) expect(fix).toContain(name);
  });

  it.each([
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
      const { report } = await scanned({ tls: await certificate() });
      expect(report).toMatchObject({ grade: 'F', score: 0 });
      expect(resultOf({ report }, 'P1')).toMatchObject({ status: 'fail', outcome });
      const rest = report.results.filter(
        ({ id, category }) => id !== 'P1' && category !== 'directory',
      );
      expect(new Set(rest.map(({ basis }) => basis))).toEqual(new Set(['not_evaluated']));
    },
  );
});
