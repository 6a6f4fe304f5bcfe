import { OriginRefused } from '../guard/errors.ts';
import type { Origin } from '../guard/origin.ts';
import type { PaidBy } from '../model/availability.ts';
import type { StoredRecording } from '../store/results.ts';
import { type FinishedScan, fromStoredReport, toPublishedScan } from './finished-scan.ts';
import {
  hasRecord,
  InFlightScans,
  type JoinOptions,
  MAX_SCANS,
  type ScanCoordinatorOptions,
  type ScanRunOptions,
} from './in-flight-scans.ts';
import { toTally } from './tally.ts';

export type { FinishedScan } from './finished-scan.ts';
export type { ScanCoordinatorOptions } from './in-flight-scans.ts';

export type ScanCoordinator = {
  /**
   * Refuses blocked addresses before anything is charged: throws OriginRefused. A host with a published
   * record is admitted, or its seller could keep a grade by changing DNS.
   */
  admit(origin: Origin): Promise<void>;
  /**
   * Joins the origin's scan in flight, or starts one, and stores its result privately. The scan continues
   * when callers leave. Throws Saturated, ScannerFailure, OriginRefused, StoreError.
   */
  run(origin: Origin, options?: ScanRunOptions): Promise<FinishedScan>;
  /** Joins this process's scan in flight; null when there is none. */
  join(origin: Origin, options?: JoinOptions): Promise<FinishedScan> | null;
  /** The recording of a finished scan; null if none was kept. */
  recordingOf(scan: FinishedScan): Promise<StoredRecording | null>;
  /** Publishes a finished scan to cache, directory and changes. Idempotent. Default: a payer paid for it. */
  publish(scanId: string, paidBy?: PaidBy): Promise<void>;
  /** True while a new scan would be refused; joining one in flight always works. */
  isSaturated(): boolean;
  /** Reason that no scan of this process can succeed, and none may be sold; null while scans can. */
  fault(): string | null;
  /** Maximum of scans in this process. */
  readonly maxScans: number;
  /** Number of paid scans running in this process. */
  running(): number;
  /** Waits up to `graceMs` for scans in flight, then abandons them. */
  close(graceMs?: number): Promise<void>;
};

export function createScanCoordinator(options: ScanCoordinatorOptions): ScanCoordinator {
  const inFlight = new InFlightScans(options);
  const { scanner, store, catalogFacts, maxScans = MAX_SCANS, onPublished } = options;
  return {
    async admit(origin) {
      try {
        await scanner.admit(origin);
      } catch (error) {
        const isKnown = error instanceof OriginRefused && (await hasRecord(store, origin));
        if (!isKnown) throw error;
      }
    },
    run: (origin, runOptions = {}) => inFlight.run(origin, runOptions),
    join: (origin, joinOptions) => inFlight.join(origin, joinOptions),
    async recordingOf({ scanId, keepRecording }) {
      return (await store.results.recording(scanId)) ?? (await keepRecording?.()) ?? null;
    },
    async publish(scanId, paidBy) {
      const result = await store.results.byScan(scanId);
      if (result === null) throw new Error(`Scan ${scanId} is not stored: nothing to publish.`);
      const scan = fromStoredReport(result);
      await store.publish(toPublishedScan(scan, catalogFacts, paidBy), toTally(scan.report));
      onPublished?.(result.host);
    },
    isSaturated: () => inFlight.isFull(),
    fault: () => scanner.fault?.() ?? null,
    maxScans,
    running: () => inFlight.paid,
    close: (graceMs = 0) => inFlight.close(graceMs),
  };
}
