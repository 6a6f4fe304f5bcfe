/** The engine as benches run it: no service around it. */

import { loadCatalog } from '../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../src/scanner/engine/judging-pool.ts';
import {
  DEFAULT_POLICY,
  type OriginPolicy,
  parseAllowHosts,
  parseOrigin,
} from '../../src/scanner/guard/origin.ts';
import { OFFLINE_STANDING } from '../../src/scanner/model/standing.ts';
import { createScanner, type ScannerOptions } from '../../src/scanner/scan/run-scan.ts';
import type { ScanOutcome } from '../../src/scanner/scan/scanner.ts';
import { REVISIONS } from '../../src/service/config/revision.ts';

/** The engine without a service around it. */
export type Engine = AsyncDisposable & {
  readonly parts: ScannerOptions;
  /** One of the origins that it was opened for. */
  scan(url: string): Promise<ScanOutcome>;
  /** Boots the threads, loads the checks on them, and measures this machine. */
  warmUp(): Promise<void>;
};

export async function openEngine(
  urls: readonly string[],
  limits: NonNullable<ScannerOptions['limits']> = {},
): Promise<Engine> {
  const checks = await discoverChecks();
  const catalog = await loadCatalog(REVISIONS['0.3.0'].defaultChecksVersion, { checks });
  const allowHosts = parseAllowHosts(urls.map((url) => new URL(url).host).join(','));
  const policy: OriginPolicy = { ...DEFAULT_POLICY, allowHosts };
  const parts: ScannerOptions = {
    catalog,
    checks,
    policy,
    limits,
    pool: createPool(),
    standing: OFFLINE_STANDING,
    userAgent: 'x402-conformance-scanner/bench',
  };
  const scanner = createScanner(parts);
  return {
    parts,
    // The concrete scanner tells more than its interface: how long it took, and what it saw.
    scan: (url) => scanner.scan(parseOrigin(url, policy)),
    async warmUp() {
      await parts.pool.start(checks.map(({ url }) => url));
      await parts.pool.calibrate();
    },
    [Symbol.asyncDispose]: () => scanner.close(),
  };
}
