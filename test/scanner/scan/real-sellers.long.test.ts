/** Scans real middlewares from npm and PyPI, with default settings and with complete settings. */
import { afterAll, describe, expect, test } from 'vitest';
import { needs } from '../../fixtures/needs.ts';
import { startExpressV1Seller } from '../../fixtures/sellers/express-v1-seller.ts';
import { startExpressV2Seller } from '../../fixtures/sellers/express-v2-seller.ts';
import { startFastApiSeller } from '../../fixtures/sellers/python-sellers.ts';
import type { Seller } from '../../fixtures/sellers/seller.ts';
import { listCells, OLDER_VERSION, resultOf, startEngine } from './engine-under-test.ts';

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

const python = await startFastApiSeller();
afterAll(async () => {
  if ('url' in python) await python[Symbol.asyncDispose]();
});

async function scanStarted(starting: Promise<Seller>, checksVersion?: string) {
  await using seller = await starting;
  return await engine.scan(seller.url, checksVersion);
}

const COMPLETE_SELLER = {
  withOpenApi: true,
  withDocuments: true,
  withBazaar: true,
  guardsHead: true,
};

describe('@x402/express', () => {
  test('gets an A with 100 if everything is right', async () => {
    const outcome = await scanStarted(startExpressV2Seller(COMPLETE_SELLER));
    const problems = outcome.report.results.filter(
      (result) => result.status !== 'pass' && result.category !== 'directory',
    );
    expect(problems).toEqual([]);
    expect(outcome.report).toMatchObject({ grade: 'A', score: 100 });
    expect(outcome.report.results).toHaveLength(25);
    expect(outcome.branding).toMatchObject({ displayName: 'Weather and words', category: 'other' });
  });

  test('keeps its A under the catalog that sends no POST, which leaves S5 undetermined', async () => {
    const { report } = await scanStarted(startExpressV2Seller(COMPLETE_SELLER), OLDER_VERSION);
    expect(report).toMatchObject({ grade: 'A', checksVersion: OLDER_VERSION });
    expect(resultOf({ report }, 'S5')).toMatchObject({
      basis: 'not_determined',
      outcome: 'unseen',
    });
  });

  test('lets HEAD through to the paid handler by default', async () => {
    const { report } = await scanStarted(startExpressV2Seller({ withOpenApi: true }));
    expect(listCells({ report })).toEqual(
      expect.arrayContaining(['P2 pass challenged', 'P3 pass valid', 'P4 pass sound']),
    );
    expect(resultOf({ report }, 'P5')).toMatchObject({ status: 'fail', outcome: 'head-served' });
    expect(resultOf({ report }, 'P5').evidence).toContain('HEAD /weather: 200');
    expect(report.score).toBeLessThanOrEqual(89);
  });

  test('fails P2 without a document, and the evidence names the requested paths', async () => {
    const { report, branding } = await scanStarted(startExpressV2Seller());
    const { status, outcome, evidence } = resultOf({ report }, 'P2');
    expect({ status, outcome }).toEqual({ status: 'fail', outcome: 'none-found' });
    for (const path of ['/openapi.json', '/.well-known/x402', '/llms.txt', 'GET /']) {
      expect(evidence).toContain(path);
    }
    expect(report.grade).toBe('F');
    expect(branding.displayName).toBe(new URL(report.origin).host);
  });
});

describe('x402-express', () => {
  test('is a version 1 seller: few clients can pay, and the report says so', async () => {
    const { report } = await scanStarted(startExpressV1Seller({ withOpenApi: true }));
    expect(resultOf({ report }, 'P2')).toMatchObject({ status: 'warn', outcome: 'v1-only' });
    expect(resultOf({ report }, 'P3').status).toBe('warn');
    expect(resultOf({ report }, 'P4').status).toBe('fail');
    expect(resultOf({ report }, 'P6').status).toBe('pass');
  });
});

describe('x402 for FastAPI', needs('unavailable' in python ? python.unavailable : null), () => {
  test('is found though its own OpenAPI document does not mention payment', async () => {
    if ('unavailable' in python) throw new Error(python.unavailable);
    const outcome = await engine.scan(python.url);
    expect(listCells(outcome)).toEqual(
      expect.arrayContaining([
        'P2 pass challenged',
        'P3 pass valid',
        'P4 pass sound',
        'P5 pass no-settle',
        'P6 warn undeclared',
        'S4 fail nothing-declared',
      ]),
    );
    // The scan never posts to an operation without a declared price. Such an operation may be free, and would then run.
    const posts = outcome.observations.resources.probed.flatMap((resource) =>
      resource.probes.filter((probe) => probe.method === 'POST'),
    );
    expect(posts).toEqual([]);
  });
});

describe('a closed port', () => {
  test('gets grade F with score 0 and 25 results', async () => {
    const seller = await startExpressV2Seller();
    await seller[Symbol.asyncDispose]();
    const { report } = await engine.scan(seller.url);
    expect(report).toMatchObject({ grade: 'F', score: 0 });
    expect(report.results).toHaveLength(25);
    expect(resultOf({ report }, 'P1')).toMatchObject({ status: 'fail', outcome: 'refused' });
  });
});

describe('round trips', () => {
  test('are at most seven, and each distinct request is sent once', async () => {
    const { timing, observations } = await scanStarted(startExpressV2Seller(COMPLETE_SELLER));
    expect(timing.roundTrips).toBeLessThanOrEqual(7);
    expect(timing.requests).toBeLessThanOrEqual(60);
    expect(observations.resources.probed.length).toBe(2);
  });
});
