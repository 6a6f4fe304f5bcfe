import { OriginRefused } from '../../scanner/guard/failures.ts';
import type { Origin } from '../../scanner/guard/origin.ts';
import type { PaidBy } from '../../scanner/model/payability.ts';
import type { StoredRecording } from '../store/results.ts';
import {
  type FinishedScan,
  fromStoredReport,
  type JoinOptions,
  type ScanCoordinatorOptions,
  type ScanRunOptions,
  toPublishedScan,
  toTally,
} from './finished-scan.ts';
import { hasRecord, InFlightScans, MAX_SCANS } from './in-flight-scans.ts';

export type { FinishedScan, ScanCoordinatorOptions } from './finished-scan.ts';

export type ScanCoordinator = ReturnType<typeof createScanCoordinator>;

export function createScanCoordinator(options: ScanCoordinatorOptions) {
  const inFlight = new InFlightScans(options);
  const { scanner, store, catalogFacts, maxScans = MAX_SCANS, onPublished } = options;
  return {
    /**
     * Throws OriginRefused for a blocked address, before anything is charged. A host with a published record
     * is admitted. Otherwise its seller could keep a grade by changing DNS.
     */
    async admit(origin: Origin): Promise<void> {
      try {
        await scanner.admit(origin);
      } catch (error) {
        if (!(error instanceof OriginRefused) || !(await hasRecord(store, origin))) throw error;
      }
    },
    /**
     * Joins the origin's scan in flight, or starts one, and stores its result privately. The scan continues
     * when callers leave. Throws Saturated, ScannerFailure, OriginRefused, StoreError.
     */
    run: (origin: Origin, runOptions: ScanRunOptions = {}) => inFlight.run(origin, runOptions),
    /** True while this process scans the origin for callers who share the result. Asking joins nothing. */
    isRunning: (origin: Origin) => inFlight.isRunning(origin),
    /** Joins a scan in flight of this process; null if there is none. */
    join: (origin: Origin, joinOptions?: JoinOptions) => inFlight.join(origin, joinOptions),
    /** Returns the recording of a finished scan; null if none was kept. */
    async findRecording({ scanId, keepRecording }: FinishedScan): Promise<StoredRecording | null> {
      return (await store.results.findRecording(scanId)) ?? (await keepRecording?.()) ?? null;
    },
    /** Publishes a finished scan to cache, directory and changes. Idempotent. `paidBy` is `payer` by default. */
    async publish(scanId: string, paidBy?: PaidBy): Promise<void> {
      const result = await store.results.findByScan(scanId);
      if (result === null) throw new Error(`Scan ${scanId} is not stored: nothing to publish.`);
      const scan = fromStoredReport(result);
      await store.publish(toPublishedScan(scan, catalogFacts, paidBy), toTally(scan.report));
      onPublished?.(result.host);
    },
    /** True while a new scan would be refused. Joining a scan in flight always works. */
    isSaturated: () => inFlight.isFull(),
    /** Returns the reason why no scan of this process can succeed or may be sold; null if there is none. */
    findFault: () => inFlight.brokenChecks?.message ?? null,
    /** Maximum of paid scans in this process. */
    maxScans,
    /** Number of scans of this process that a caller pays for. */
    countPaidScans: () => inFlight.paidCount,
    /** Waits up to `graceMs` for scans in flight, then abandons them. */
    close: (graceMs = 0): Promise<void> => inFlight.close(graceMs),
  };
}
