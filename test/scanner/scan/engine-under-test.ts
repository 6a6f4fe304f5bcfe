/** The whole engine as tests drive it: real sockets, real workers, one pool for a file of tests. */

import { openClients } from '../../../src/scanner/clients/open-clients.ts';
import { listCatalogs, loadCatalog } from '../../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../../src/scanner/engine/judging-pool.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import type { CheckResult } from '../../../src/scanner/model/report.ts';
import { OFFLINE_STANDING } from '../../../src/scanner/model/standing.ts';
import { limitToCatalog, type Recording } from '../../../src/scanner/probe/recording.ts';
import type { ScanEngine } from '../../../src/scanner/scan/broken-checks.ts';
import { gradeObservations } from '../../../src/scanner/scan/grade-observations.ts';
import { createScanner, type ScannerOptions } from '../../../src/scanner/scan/run-scan.ts';
import type { OriginScanOptions, ScanOutcome } from '../../../src/scanner/scan/scanner.ts';
import type { PoolOptions } from '../../../src/scanner/workers/worker-pool.ts';

/** Sends no POST. */
export const OLDER_VERSION = '2026-07-25.1';
/** The newest catalog, by which the command line judges. */
export const NEWER_VERSION = (await listCatalogs()).at(-1) ?? OLDER_VERSION;

type Parts = Partial<
  Pick<
    ScannerOptions,
    'limits' | 'mcp' | 'extraCa' | 'gatherDeadlineMs' | 'standing' | 'createClient'
  >
>;

/** Checks, a catalog and a pool with these limits. The caller closes the pool. */
export async function loadEngine(
  limits: PoolOptions = {},
  checksVersion = NEWER_VERSION,
): Promise<ScanEngine> {
  const checks = await discoverChecks();
  const catalog = await loadCatalog(checksVersion, { checks });
  return { checks, catalog, pool: createPool(limits) };
}

/** Scans an origin on loopback, allowed for this scan alone, without indexes and clients unless `parts` has them. */
export function scanLoopback(
  url: string,
  parts: ScanEngine & Partial<ScannerOptions>,
  options: OriginScanOptions = {},
): Promise<ScanOutcome> {
  const policy = allowOrigin(url, DEFAULT_POLICY);
  const usual = { policy, standing: OFFLINE_STANDING, userAgent: 'test' };
  return createScanner({ ...usual, ...parts }).scan(parseOrigin(url, policy), options);
}

export type EngineUnderTest = {
  /** Scans an origin on loopback, allowed for this scan alone. */
  scan(
    url: string,
    checksVersion?: string,
    parts?: Parts,
    options?: OriginScanOptions,
  ): Promise<ScanOutcome>;
  /** Judges what was recorded, by any catalog. */
  replay(recording: Recording, checksVersion: string): Promise<Pick<ScanOutcome, 'report'>>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function startEngine(): Promise<EngineUnderTest> {
  const newer = await loadEngine();
  const { checks, pool } = newer;
  const older = { ...newer, catalog: await loadCatalog(OLDER_VERSION, { checks }) };
  const clients = openClients();
  const findEngine = (checksVersion: string): ScanEngine => {
    const engine = [older, newer].find(({ catalog }) => catalog.checksVersion === checksVersion);
    if (engine === undefined) throw new Error(`no catalog ${checksVersion}`);
    return engine;
  };
  return {
    scan: (url, checksVersion = NEWER_VERSION, parts = {}, options = {}) =>
      scanLoopback(url, { ...findEngine(checksVersion), clients, ...parts }, options),
    replay: ({ observations, scannedAt, exhausted }, checksVersion) => {
      const engine = findEngine(checksVersion);
      const seen = limitToCatalog(observations, engine.catalog.probing);
      return gradeObservations(seen, scannedAt, engine, { exhausted });
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([pool.close(), clients.close()]);
    },
  };
}

export function resultOf({ report }: Pick<ScanOutcome, 'report'>, id: string): CheckResult {
  const result = report.results.find((one) => one.id === id);
  if (result === undefined) throw new Error(`the report has no ${id}`);
  return result;
}

/** Returns one cell for each check: its id, status and outcome, such as "P1 pass reachable". */
export function listCells({ report }: Pick<ScanOutcome, 'report'>): readonly string[] {
  return report.results.map(({ id, status, outcome }) => `${id} ${status} ${outcome}`);
}
