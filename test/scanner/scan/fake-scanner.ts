/** A scanner without engine or network. */

import { OriginRefused } from '../../../src/scanner/guard/failures.ts';
import type { Origin } from '../../../src/scanner/guard/origin.ts';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import type { CheckResult, Grade, ScanReport } from '../../../src/scanner/model/report.ts';
import { recordObservations } from '../../../src/scanner/scan/record-observations.ts';
import type { Scanner, ScanOutcome } from '../../../src/scanner/scan/scanner.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';
import { readCatalog } from '../../fixtures/service/test-catalog.ts';

export type CannedScan = {
  readonly grade?: Grade;
  readonly score?: number;
  /** The members that differ from a pass, by check. */
  readonly results?: Readonly<Record<string, Partial<CheckResult>>>;
  /** Other changes to the report. */
  readonly report?: Partial<ScanReport>;
  readonly branding?: Partial<ScanOutcome['branding']>;
  readonly signals?: Partial<ScanOutcome['signals']>;
  readonly observations?: Observations;
  readonly sold?: ScanOutcome['sold'];
  /** Resolves when the scan may end; it ends at once if this is absent. */
  readonly until?: Promise<unknown>;
  readonly failure?: Error;
};

export type FakeScanner = Scanner & {
  /** Sets the result of the next scans of a host. The last one stays. */
  will(host: string, canned: CannedScan): void;
  /** Hosts that `admit` refuses. */
  readonly blocked: Set<string>;
  /** Hosts that were looked up before work for them began, in order. */
  readonly admitted: string[];
  /** Hosts in the order in which scans began. */
  readonly scannedHosts: string[];
  /** For each scan, true if the caller said that the host has a record. */
  readonly hasRecordFlags: boolean[];
};

/** Scans nothing and answers what it was told to. */
export function createFakeScanner(checksVersion = '2026-08-14.2'): FakeScanner {
  const canned = new Map<string, CannedScan>();
  const blocked = new Set<string>();
  const scannedHosts: string[] = [];
  const admitted: string[] = [];
  const hasRecordFlags: boolean[] = [];
  return {
    blocked,
    scannedHosts,
    admitted,
    hasRecordFlags,
    will: (host, scan) => {
      canned.set(host, scan);
    },
    async admit({ host }) {
      admitted.push(host);
      if (blocked.has(host)) throw new OriginRefused('blocked_ip');
    },
    async scan(origin, { signal, hasRecord = false, census, scannedAt } = {}) {
      scannedHosts.push(origin.host);
      await census?.beforeRequest();
      hasRecordFlags.push(hasRecord);
      const scan = canned.get(origin.host) ?? {};
      const aborted = new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      aborted.catch(() => undefined);
      await Promise.race([scan.until, aborted]);
      // A scan sends its last requests shortly before its end.
      await census?.beforeRequest();
      if (scan.failure !== undefined) throw scan.failure;
      return outcomeOf(origin, { checksVersion, scannedAt }, scan);
    },
    record: async (scan) => recordObservations(scan),
    isSaturated: () => false,
    async close() {},
  };
}

type ReportFacts = {
  readonly checksVersion: string;
  readonly scannedAt?: string | undefined;
};

function outcomeOf(
  origin: Origin,
  { checksVersion, scannedAt = '2000-01-01T00:00:00.000Z' }: ReportFacts,
  scan: CannedScan,
): ScanOutcome {
  const { grade = 'A', score = 95 } = scan;
  const report: ScanReport = {
    origin: origin.url,
    grade,
    score,
    subScores: { protocol: score, docs: score, standing: null },
    indexed: [],
    checksVersion,
    scannedAt,
    payability: [],
    payableBy: null,
    clients: [],
    otherWays: [],
    advice: [],
    results: readCatalog(checksVersion).checks.map((check, at) => ({
      ...toResult(check, at),
      ...scan.results?.[check.id],
    })),
    ...scan.report,
  };
  return {
    report,
    branding: {
      displayName: `Shop of ${origin.host}`,
      description: 'Sells weather.',
      category: 'data',
      iconUrl: `${origin.url}/icon.png`,
      ogImageUrl: null,
      ...scan.branding,
    },
    signals: {
      registeredIndex: true,
      hasRecentSettlement: null,
      indexOwnershipVerified: false,
      onEcosystemListing: false,
      ...scan.signals,
    },
    timing: { gatherMs: 1, judgeMs: 1, totalMs: 2, requests: 9, roundTrips: 2 },
    observations: scan.observations ?? perfectSeller(),
    sold: scan.sold ?? [],
  };
}

/** Twenty pass, three warn, two fail. */
function toResult(
  check: Pick<CheckResult, 'id' | 'title' | 'category' | 'severity'>,
  index: number,
): CheckResult {
  const { id, title, category, severity } = check;
  const status = index < 20 ? 'pass' : index < 23 ? 'warn' : 'fail';
  return {
    id,
    title,
    category,
    severity,
    status,
    basis: 'measured',
    outcome: 'seen',
    evidence: `Evidence of ${id}.`,
    fix: `Fix of ${id}.`,
  };
}
