/** Sellers on packages of others, as they come, scanned over real sockets: what each check says of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../fixtures/needs.ts';
import { startPackageSeller } from '../fixtures/sellers/package-seller.ts';
import type { Seller } from '../fixtures/sellers/seller.ts';
import { startSolanaSeller } from '../fixtures/sellers/solana-seller.ts';
import { cells, type EngineUnderTest, resultOf, startEngine } from '../scan/engine-under-test.ts';

type Started = Seller | { readonly unavailable: string };

let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

function sellerOf(started: Started): Seller {
  if ('unavailable' in started) throw new Error(started.unavailable);
  return started;
}

const lackOf = (started: Started) => needs('unavailable' in started ? started.unavailable : null);

const router = await startPackageSeller('agentcash-router');
const dynamic = await startPackageSeller('hono-dynamic');
const mppx = await startPackageSeller('mppx-alone');
const solana = await startSolanaSeller(true);
const unpayable = await startSolanaSeller(false);
afterAll(async () => {
  const started: readonly Started[] = [router, dynamic, mppx, solana, unpayable];
  await Promise.all(started.map((one) => ('url' in one ? one[Symbol.asyncDispose]() : undefined)));
});

describe('@agentcash/router, one paid route and one sign-in', lackOf(router), () => {
  it('sells one resource; the sign-in is not a resource, and costs nothing', async () => {
    const outcome = await engine.scan(sellerOf(router).url);
    const { report } = outcome;
    expect(report).toMatchObject({ grade: 'B', payableBy: 'default' });
    expect(cells(outcome)).toEqual(
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
});

describe('@x402/hono with a recipient for each request', lackOf(dynamic), () => {
  it('gets a warning by P7, and by no other check on the wire', async () => {
    const outcome = await engine.scan(sellerOf(dynamic).url);
    expect(outcome.report).toMatchObject({ grade: 'B', payableBy: 'default' });
    const onTheWire = cells(outcome).filter((cell) => /^P\d /.test(cell));
    expect(onTheWire.filter((cell) => !/^P\d pass /.test(cell))).toEqual([
      'P7 warn fresh-recipient',
    ]);
    expect(cells(outcome)).toContain('P6 pass agrees');
  });
});

describe('mppx without x402', lackOf(mppx), () => {
  it('is named as MPP, and no fix mentions base64', async () => {
    const outcome = await engine.scan(sellerOf(mppx).url);
    expect(outcome.report).toMatchObject({ grade: 'F', payableBy: null });
    const { status, outcome: seen, evidence, fix } = resultOf(outcome, 'P2');
    expect({ status, seen }).toEqual({ status: 'fail', seen: 'other-protocol' });
    expect(evidence).toContain('MPP');
    for (const one of [fix, ...outcome.report.results.map((result) => result.fix)]) {
      expect(one).not.toContain('base64');
    }
    expect(cells(outcome)).toContain('P3 fail prerequisite-failed');
  });
});

describe('x402 for Python on Solana', lackOf(solana), () => {
  it('is payable if the facilitator names the fee payer', async () => {
    const outcome = await engine.scan(sellerOf(solana).url);
    expect(outcome.report.payableBy).toBe('default');
    expect(cells(outcome)).toEqual(
      expect.arrayContaining(['P2 pass challenged', 'P3 pass valid', 'P7 pass consistent']),
    );
    expect(outcome.report.payability?.[0]?.offers).toMatchObject([
      { scheme: 'exact', client: '@x402/svm', verdict: 'signs' },
    ]);
  });

  it('is an F without a fee payer, in the words of the client', async () => {
    const outcome = await engine.scan(sellerOf(unpayable).url);
    expect(outcome.report).toMatchObject({ grade: 'F', payableBy: 'nobody' });
    const { outcome: seen, evidence } = resultOf(outcome, 'P3');
    expect(seen).toBe('missing-member');
    expect(evidence).toContain('/accepts/0/extra/feePayer: missing');
    expect(evidence).toContain('feePayer is required');
  });
});
