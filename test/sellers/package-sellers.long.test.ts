/** Scans sellers on unmodified third-party packages over real sockets, and compares the outcomes of the checks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../fixtures/needs.ts';
import { startPackageSeller } from '../fixtures/sellers/package-seller.ts';
import type { Seller } from '../fixtures/sellers/seller.ts';
import { startSolanaSeller } from '../fixtures/sellers/solana-seller.ts';
import {
  type EngineUnderTest,
  listCells,
  resultOf,
  startEngine,
} from '../scanner/scan/engine-under-test.ts';

type StartedSeller = Seller | { readonly unavailable: string };

let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

function requireSeller(started: StartedSeller): Seller {
  if ('unavailable' in started) throw new Error(started.unavailable);
  return started;
}

/** Skips a suite whose seller could not start. */
const skipWithout = (started: StartedSeller) =>
  needs('unavailable' in started ? started.unavailable : null);

const routerSeller = await startPackageSeller('agentcash-router');
const dynamicSeller = await startPackageSeller('hono-dynamic');
const mppSeller = await startPackageSeller('mppx-alone');
const solanaSeller = await startSolanaSeller(true);
const unpayableSeller = await startSolanaSeller(false);
afterAll(async () => {
  const started: readonly StartedSeller[] = [
    routerSeller,
    dynamicSeller,
    mppSeller,
    solanaSeller,
    unpayableSeller,
  ];
  await Promise.all(
    started.map((seller) => ('url' in seller ? seller[Symbol.asyncDispose]() : undefined)),
  );
});

describe(
  'a seller on @agentcash/router with a paid route and a sign-in',
  skipWithout(routerSeller),
  () => {
    test('sells one resource, and its sign-in does not count as a resource', async () => {
      const outcome = await engine.scan(requireSeller(routerSeller).url);
      const { report } = outcome;
      expect(report).toMatchObject({ grade: 'B', payableBy: 'default' });
      expect(listCells(outcome)).toEqual(
        expect.arrayContaining([
          'P2 pass challenged',
          'P3 pass valid',
          'P4 pass sound',
          'P5 pass no-settle',
          'P6 pass agrees',
          'P7 pass consistent',
          'P8 pass short-enough',
          'S3 pass declared',
          'S4 warn no-security',
          'S5 pass no-post-resource',
          'S6 pass complete',
          'S11 pass all-alive',
        ]),
      );
      expect(resultOf(outcome, 'P2').evidence).toContain('1 ask for a sign-in');
      expect(resultOf(outcome, 'P3').evidence).toContain('1 of 1 resources');
      expect(resultOf(outcome, 'S4').evidence).not.toContain('profile');
      expect(report.payability).toMatchObject([{ path: '/api/weather', payableBy: 'default' }]);
    });
  },
);

describe(
  'a seller on @x402/hono with a new recipient for each request',
  skipWithout(dynamicSeller),
  () => {
    test('gets a warning from P7, and passes all other P checks', async () => {
      const outcome = await engine.scan(requireSeller(dynamicSeller).url);
      expect(outcome.report).toMatchObject({ grade: 'B', payableBy: 'default' });
      const protocolCells = listCells(outcome).filter((cell) => /^P\d /.test(cell));
      expect(protocolCells.filter((cell) => !/^P\d pass /.test(cell))).toEqual([
        'P7 warn fresh-recipient',
      ]);
      expect(listCells(outcome)).toContain('P6 pass agrees');
    });
  },
);

describe('a seller on mppx without x402', skipWithout(mppSeller), () => {
  test('is reported as a seller over MPP, and no fix mentions base64', async () => {
    const outcome = await engine.scan(requireSeller(mppSeller).url);
    expect(outcome.report).toMatchObject({ grade: 'F', payableBy: null });
    const { status, outcome: foundOutcome, evidence, fix } = resultOf(outcome, 'P2');
    expect({ status, foundOutcome }).toEqual({ status: 'fail', foundOutcome: 'other-protocol' });
    expect(evidence).toContain('MPP');
    for (const anyFix of [fix, ...outcome.report.results.map((result) => result.fix)]) {
      expect(anyFix).not.toContain('base64');
    }
    expect(listCells(outcome)).toContain('P3 fail prerequisite-failed');
  });
});

describe(
  'a seller on x402 for Python that asks for a payment on Solana',
  skipWithout(solanaSeller),
  () => {
    test('is payable if the facilitator names the fee payer', async () => {
      const outcome = await engine.scan(requireSeller(solanaSeller).url);
      expect(outcome.report.payableBy).toBe('default');
      expect(listCells(outcome)).toEqual(
        expect.arrayContaining(['P2 pass challenged', 'P3 pass valid', 'P7 pass consistent']),
      );
      expect(outcome.report.payability?.[0]?.offers).toMatchObject([
        { scheme: 'exact', client: '@x402/svm', verdict: 'signs' },
      ]);
    });

    test('gets an F without a fee payer, and the evidence quotes the client', async () => {
      const outcome = await engine.scan(requireSeller(unpayableSeller).url);
      expect(outcome.report).toMatchObject({ grade: 'F', payableBy: 'nobody' });
      const { outcome: foundOutcome, evidence } = resultOf(outcome, 'P3');
      expect(foundOutcome).toBe('missing-member');
      expect(evidence).toContain('/accepts/0/extra/feePayer: missing');
      expect(evidence).toContain('feePayer is required');
    });
  },
);
