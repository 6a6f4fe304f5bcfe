import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../fixtures/chain/test-chain.ts';
import { needs } from '../fixtures/needs.ts';
import { type CraftedSeller, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { SELLER_PAY_TO } from '../fixtures/sellers/seller.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';
import { startSourcesKnowing } from '../scanner/indexes/known-seller.ts';
import { settle, transfer } from '../scanner/indexes/pay.ts';
import type { StandIn } from '../scanner/indexes/stand-in.ts';
import { runCli } from './run-cli.ts';

const TIMEOUT_MS = 120_000;
const ALL_SOURCES_OFF = { X402SCAN_URL: '', BAZAAR_URL: '', ECOSYSTEM_URL: '', RPC_URL: '' };

type DirectoryResult = {
  id: string;
  status: string;
  basis: string;
  evidence: string;
  severity: string;
};
type Report = {
  grade: string;
  score: number;
  subScores: { protocol: number; docs: number; standing: number | null };
  results: DirectoryResult[];
};

describe('the standing on the command line', needs(chainUnavailable()), () => {
  let chain: TestChain;
  let seller: CraftedSeller;
  let sources: StandIn;
  const folder = folderPerTest();
  beforeAll(async () => {
    [chain, seller] = [await startChain(), await startCraftedSeller()];
    await transfer(chain, SELLER_PAY_TO);
    await settle(chain, await chain.newPayer(), SELLER_PAY_TO);
  });
  afterAll(async () => {
    await Promise.all([chain?.[Symbol.asyncDispose](), seller?.[Symbol.asyncDispose]()]);
  });
  beforeEach(async () => {
    sources = await startSourcesKnowing(seller.url, SELLER_PAY_TO);
    return async () => {
      await sources.close();
    };
  });

  async function scan(overrides: Partial<typeof ALL_SOURCES_OFF> = {}): Promise<Report> {
    const { code, stdout, stderr } = await runCli(
      ['scan', seller.url, '--allow-private', '--format', 'json'],
      {
        X402SCAN_URL: sources.url,
        BAZAAR_URL: sources.url,
        ECOSYSTEM_URL: sources.url,
        RPC_URL: chain.rpcUrl,
        STANDING_CACHE: folder.path,
        ...overrides,
      },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  }

  test('is measured with all sources, and is read from the cache after the sources stopped', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const measured = await scan();
    expect(directoryLines(measured)).toEqual([
      'D1 pass measured',
      'D2 pass measured',
      'D3 pass measured',
      'D4 pass measured',
      'D5 pass measured',
    ]);
    expect(measured).toMatchObject({ grade: 'A', score: 100, subScores: { standing: 100 } });

    await ageCacheBy(2 * 86_400_000);
    await sources.close();
    const fromCache = await scan();
    expect(directoryLines(fromCache)).toEqual(directoryLines(measured));
    expect(fromCache).toMatchObject({ grade: 'A', score: 100, subScores: measured.subScores });
    for (const { evidence } of selectDirectoryResults(fromCache))
      expect(evidence).toMatch(/\(4[89] h old\)/);
  });

  test('uses the Bazaar if x402scan is off, and the chain if the Bazaar is off too', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bazaarReport = await scan({ X402SCAN_URL: '' });
    expect(directoryLines(bazaarReport)).toEqual([
      'D1 warn not_determined',
      'D2 warn not_determined',
      'D3 pass measured',
      'D4 pass measured',
      'D5 pass measured',
    ]);
    // The score ignores checks that are not determined.
    expect(bazaarReport).toMatchObject({ score: 100, subScores: { standing: 100 } });
    expect(findEvidence(bazaarReport, 'D4')).toContain(
      '30 settlements of 6 payers in 30 days: Bazaar',
    );

    const chainReport = await scan({ X402SCAN_URL: '', BAZAAR_URL: '' });
    expect(directoryLines(chainReport).slice(2)).toEqual([
      'D3 pass measured',
      'D4 warn measured',
      'D5 pass measured',
    ]);
    expect(findEvidence(chainReport, 'D4')).toContain(
      '1 settlements of 1 payers in 30 days: chain logs',
    );
    expect(chainReport.subScores.standing).toBe(computeStanding(chainReport));
  });

  test('is left out of the score if sources are off', { timeout: TIMEOUT_MS }, async () => {
    const withoutEcosystem = await scan({ ECOSYSTEM_URL: '' });
    expect(directoryLines(withoutEcosystem)[4]).toBe('D5 warn not_determined');
    expect(withoutEcosystem.subScores.standing).toBe(100);

    sources.forget();
    const offReport = await scan(ALL_SOURCES_OFF);
    expect(selectDirectoryResults(offReport).every(({ basis }) => basis === 'not_determined')).toBe(
      true,
    );
    expect(offReport).toMatchObject({ grade: 'A', score: 100, subScores: { standing: null } });
    expect(sources.requestedPaths).toEqual([]);
  });

  /** Makes the cached answers `ms` older. */
  async function ageCacheBy(ms: number): Promise<void> {
    const files = await readdir(folder.path);
    expect(files.length).toBeGreaterThan(3);
    for (const name of files) {
      const file = folder.at(name);
      const cachedAnswer = JSON.parse(await readFile(file, 'utf8'));
      await writeFile(
        file,
        JSON.stringify({ ...cachedAnswer, takenAtMs: cachedAnswer.takenAtMs - ms }),
      );
    }
  }
});

const selectDirectoryResults = ({ results }: Report) =>
  results.filter(({ id }) => id.startsWith('D'));
const directoryLines = (report: Report) =>
  selectDirectoryResults(report).map(({ id, status, basis }) => `${id} ${status} ${basis}`);
const findEvidence = ({ results }: Report, id: string) =>
  results.find((result) => result.id === id)?.evidence;

/** Computes the sub-score from the report by the published rule. */
function computeStanding(report: Report): number {
  const points: Record<string, number> = { critical: 20, major: 10, minor: 4 };
  const earned: Record<string, number> = { pass: 1, warn: 0.5, fail: 0 };
  const determined = selectDirectoryResults(report).filter(
    ({ basis }) => basis !== 'not_determined',
  );
  const sumWeights = (share: (result: DirectoryResult) => number) =>
    determined.reduce((total, result) => total + (points[result.severity] ?? 0) * share(result), 0);
  return Math.floor((100 * sumWeights(({ status }) => earned[status] ?? 0)) / sumWeights(() => 1));
}
