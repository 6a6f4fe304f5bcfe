import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../fixtures/chain/test-chain.ts';
import { needs } from '../fixtures/needs.ts';
import { type CraftedSeller, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { SELLER_PAY_TO } from '../fixtures/sellers/seller.ts';
import { startSourcesKnowing } from '../indexes/known-seller.ts';
import { settle, transfer } from '../indexes/pay.ts';
import type { StandIn } from '../indexes/stand-in.ts';
import { runCli } from './run-cli.ts';

const SCAN_MS = 120_000;
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
  let folder: string;
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
    folder = await mkdtemp(join(tmpdir(), 'standing-'));
    return async () => {
      await sources.close();
      await rm(folder, { recursive: true });
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
        STANDING_CACHE: folder,
        ...overrides,
      },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  }

  test('is measured with all sources, and stays when they stop', {
    timeout: SCAN_MS,
  }, async () => {
    const before = await scan();
    expect(directoryLines(before)).toEqual([
      'D1 pass measured',
      'D2 pass measured',
      'D3 pass measured',
      'D4 pass measured',
      'D5 pass measured',
    ]);
    expect(before).toMatchObject({ grade: 'A', score: 100, subScores: { standing: 100 } });

    await ageCacheBy(2 * 86_400_000);
    await sources.close();
    const fromCache = await scan();
    expect(directoryLines(fromCache)).toEqual(directoryLines(before));
    expect(fromCache).toMatchObject({ grade: 'A', score: 100, subScores: before.subScores });
    for (const { evidence } of standingOf(fromCache)) expect(evidence).toMatch(/\(4[89] h old\)/);
  });

  test('falls back to the Bazaar, then to the chain', { timeout: SCAN_MS }, async () => {
    const bazaar = await scan({ X402SCAN_URL: '' });
    expect(directoryLines(bazaar)).toEqual([
      'D1 warn not_determined',
      'D2 warn not_determined',
      'D3 pass measured',
      'D4 pass measured',
      'D5 pass measured',
    ]);
    // The score ignores checks that are not determined.
    expect(bazaar).toMatchObject({ score: 100, subScores: { standing: 100 } });
    expect(evidenceOf(bazaar, 'D4')).toContain('30 settlements of 6 payers in 30 days: Bazaar');

    const logs = await scan({ X402SCAN_URL: '', BAZAAR_URL: '' });
    expect(directoryLines(logs).slice(2)).toEqual([
      'D3 pass measured',
      'D4 warn measured',
      'D5 pass measured',
    ]);
    expect(evidenceOf(logs, 'D4')).toContain('1 settlements of 1 payers in 30 days: chain logs');
    expect(logs.subScores.standing).toBe(standingScore(logs));
  });

  test('is left out of the score if sources are off', { timeout: SCAN_MS }, async () => {
    const unlisted = await scan({ ECOSYSTEM_URL: '' });
    expect(directoryLines(unlisted)[4]).toBe('D5 warn not_determined');
    expect(unlisted.subScores.standing).toBe(100);

    sources.forget();
    const off = await scan(ALL_SOURCES_OFF);
    expect(standingOf(off).every(({ basis }) => basis === 'not_determined')).toBe(true);
    expect(off).toMatchObject({ grade: 'A', score: 100, subScores: { standing: null } });
    expect(sources.asked).toEqual([]);
  });

  /** Makes the cached answers `ms` older. */
  async function ageCacheBy(ms: number): Promise<void> {
    const files = await readdir(folder);
    expect(files.length).toBeGreaterThan(3);
    for (const name of files) {
      const file = join(folder, name);
      const kept = JSON.parse(await readFile(file, 'utf8'));
      await writeFile(file, JSON.stringify({ ...kept, takenAtMs: kept.takenAtMs - ms }));
    }
  }
});

const standingOf = ({ results }: Report) => results.filter(({ id }) => id.startsWith('D'));
const directoryLines = (report: Report) =>
  standingOf(report).map(({ id, status, basis }) => `${id} ${status} ${basis}`);
const evidenceOf = ({ results }: Report, id: string) =>
  results.find((result) => result.id === id)?.evidence;

/** Computes the sub-score from the report by the published rule. */
function standingScore(report: Report): number {
  const points: Record<string, number> = { critical: 20, major: 10, minor: 4 };
  const earned: Record<string, number> = { pass: 1, warn: 0.5, fail: 0 };
  const determined = standingOf(report).filter(({ basis }) => basis !== 'not_determined');
  const sum = (share: (cell: DirectoryResult) => number) =>
    determined.reduce((total, cell) => total + (points[cell.severity] ?? 0) * share(cell), 0);
  return Math.floor((100 * sum(({ status }) => earned[status] ?? 0)) / sum(() => 1));
}
