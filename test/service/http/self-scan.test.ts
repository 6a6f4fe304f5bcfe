/** The scanner scans its own service and gives it grade A. */
import { describe, expect, test } from 'vitest';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../../src/scanner/engine/judging-pool.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import type { ScanReport } from '../../../src/scanner/model/report.ts';
import { OFFLINE_STANDING } from '../../../src/scanner/model/standing.ts';
import { createScanner } from '../../../src/scanner/scan/run-scan.ts';
import { freePort } from '../../fixtures/service/free-port.ts';
import { startApp } from '../../fixtures/service/start-app.ts';
import { readCatalog } from '../../fixtures/service/test-catalog.ts';

/** Scans an origin on loopback under a catalog. No index is asked about the origin. */
async function scanOffline(url: string, checksVersion: string): Promise<ScanReport> {
  const policy = allowOrigin(url, DEFAULT_POLICY);
  const scanner = createScanner({
    catalog: readCatalog(checksVersion),
    checks: await discoverChecks(),
    pool: createPool({ threads: 2 }),
    policy,
    standing: OFFLINE_STANDING,
    userAgent: 'x402-conformance-scanner/test',
  });
  try {
    return (await scanner.scan(parseOrigin(url, policy))).report;
  } finally {
    await scanner.close();
  }
}

describe.each(['0.1.0', '0.3.0'] as const)('the service scanned by itself, %s', (revision) => {
  test.each(['2026-07-25.1', '2026-08-14.2'])('passes every check of %s', async (checksVersion) => {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    await using service = await startApp({
      revision,
      environment: { BASE_URL: origin, SITE_URL: origin, RATE_LIMIT: 'off' },
    });
    await service.app.listen({ host: '127.0.0.1', port });
    const report = await scanOffline(origin, checksVersion);
    const flaws = report.results
      .filter(({ basis, status }) => basis !== 'not_determined' && status !== 'pass')
      .map(({ id, outcome, evidence }) => `${id} ${outcome}: ${evidence}`);
    expect(flaws).toEqual([]);
    expect(report).toMatchObject({ grade: 'A', score: 100 });
  });
});
