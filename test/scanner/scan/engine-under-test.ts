/** The whole engine as tests drive it: real sockets, real workers, one pool for a file of tests. */

import { openClients } from '../../../src/scanner/clients/open-clients.ts';
import {
  type Catalog,
  listCatalogs,
  loadCatalog,
} from '../../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../../src/scanner/engine/judging-pool.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import type { CheckResult } from '../../../src/scanner/model/report.ts';
import { OFFLINE_STANDING } from '../../../src/scanner/model/standing.ts';
import { limitToCatalog, type Recording } from '../../../src/scanner/probe/recording.ts';
import { gradeObservations } from '../../../src/scanner/scan/grade-observations.ts';
import { createScanner, type ScannerOptions } from '../../../src/scanner/scan/run-scan.ts';
import type { OriginScanOptions, ScanOutcome } from '../../../src/scanner/scan/scanner.ts';

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
  const checks = await discoverChecks();
  const catalogs = new Map<string, Catalog>();
  for (const version of [OLDER_VERSION, NEWER_VERSION]) {
    catalogs.set(version, await loadCatalog(version, { checks }));
  }
  const pool = createPool();
  const clients = openClients();
  const catalogOf = (checksVersion: string): Catalog => {
    const catalog = catalogs.get(checksVersion);
    if (catalog === undefined) throw new Error(`no catalog ${checksVersion}`);
    return catalog;
  };
  return {
    scan: (url, checksVersion = NEWER_VERSION, parts = {}, options = {}) => {
      const catalog = catalogOf(checksVersion);
      const policy = allowOrigin(url, DEFAULT_POLICY);
      const scanner = createScanner({
        catalog,
        checks,
        pool,
        policy,
        standing: OFFLINE_STANDING,
        clients,
        userAgent: 'test',
        ...parts,
      });
      return scanner.scan(parseOrigin(url, policy), options);
    },
    replay: ({ observations, scannedAt, exhausted }, checksVersion) => {
      const catalog = catalogOf(checksVersion);
      const seen = limitToCatalog(observations, catalog.probing);
      return gradeObservations(seen, scannedAt, { catalog, checks, pool }, { exhausted });
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
