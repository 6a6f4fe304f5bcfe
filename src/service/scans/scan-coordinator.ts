import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isUnjudged } from '../../scanner/engine/score.ts';
import { OriginRefused } from '../../scanner/guard/failures.ts';
import type { Origin } from '../../scanner/guard/origin.ts';
import type { PaidBy } from '../../scanner/model/payability.ts';
import { readPackageVersion } from '../../scanner/probe/client/user-agent.ts';
import { toRecording } from '../../scanner/probe/recording.ts';
import type { RecordedScan } from '../../scanner/scan/record-observations.ts';
import { BrokenChecks } from '../../scanner/scan/scanner.ts';
import { Saturated } from '../errors/errors.ts';
import type { Lease } from '../store/leases.ts';
import type { StoredRecording } from '../store/results.ts';
import { awaitOrAbandon, awaitOtherInstance, LEASE_LIFETIME_MS, SEPARATE } from './await-scan.ts';
import { toScanDayWord } from './day-word.ts';
import {
  type FinishedScan,
  fromStoredReport,
  hasAnswered,
  hasOnly429,
  type JoinOptions,
  type ScanCoordinatorOptions,
  type ScanFindings,
  type ScanRunOptions,
  toPublishedScan,
  toTally,
} from './finished-scan.ts';

/** Default maximum of paid scans. It bounds the memory of the process, because one scan reads up to 16 MiB. */
const MAX_SCANS = 32;
/** Maximum of free scans in addition to the paid ones. */
const MAX_FREE_SCANS = 16;
const SCANNER_VERSION = readPackageVersion();
const RELEASE_INTERVAL_MS = 1_000;

/** A scan of this process, which any number of callers share. */
type InFlightScan = {
  readonly finished: Promise<FinishedScan>;
  /** Null until this instance holds the lease. */
  scanId: string | null;
  /** The callers that wait for the id. */
  readonly listeners: ((scanId: string) => void)[];
  withRecording: boolean;
  /** True while no caller pays. */
  isFree: boolean;
  readonly ending: AbortController;
};

/** The scans in flight of this process, by origin, and what becomes of finished ones. */
export class ScanCoordinator {
  /** Maximum of paid scans in this process. */
  readonly maxScans: number;
  readonly #options: ScanCoordinatorOptions;
  readonly #scans = new Map<string, InFlightScan>();
  /** Aborted when the time to close is over. All scans then end as Saturated. */
  readonly #abandonment = new AbortController();
  #isClosing = false;
  /** The error of the first scan whose checks broke on a good origin. No scan begins after it. */
  #brokenChecks: BrokenChecks | null = null;

  constructor(options: ScanCoordinatorOptions) {
    this.#options = options;
    this.maxScans = options.maxScans ?? MAX_SCANS;
  }

  /**
   * Throws OriginRefused for a blocked address, before anything is charged. A host with a published record is admitted.
   * Otherwise its seller could keep a grade by changing DNS.
   */
  async admit(origin: Origin): Promise<void> {
    try {
      await this.#options.scanner.admit(origin);
    } catch (error) {
      if (!(error instanceof OriginRefused) || !(await this.#hasRecord(origin))) throw error;
    }
  }

  /** Number of scans of this process that a caller pays for. */
  countPaidScans(): number {
    return [...this.#scans.values()].filter(({ isFree }) => !isFree).length;
  }

  /** Returns the reason why no scan of this process can succeed or may be sold; null if there is none. */
  findFault(): string | null {
    return this.#brokenChecks?.message ?? null;
  }

  /** True while a new scan would be refused; joining one works. Free scans yield if paid ones use half their limit. */
  isSaturated(isFree = false): boolean {
    if (this.#isClosing || this.#options.scanner.isSaturated()) return true;
    const paidCount = this.countPaidScans();
    if (!isFree) return paidCount >= this.maxScans;
    return paidCount >= this.maxScans / 2 || this.#scans.size - paidCount >= MAX_FREE_SCANS;
  }

  /** True while this process scans the origin for callers who share the result. Asking joins nothing. */
  isRunning({ url }: Origin): boolean {
    return this.#scans.has(url);
  }

  /** Joins a scan in flight of this process; null if there is none. */
  join({ url }: Origin, options: JoinOptions = {}): Promise<FinishedScan> | null {
    const scan = this.#scans.get(url);
    if (scan === undefined) return null;
    addCaller(scan, options);
    return scan.finished;
  }

  /**
   * Joins the origin's scan in flight, or starts one, and stores its result privately. The scan continues when callers
   * leave. Throws Saturated, ScannerFailure, OriginRefused, StoreError.
   */
  run(origin: Origin, options: ScanRunOptions = {}): Promise<FinishedScan> {
    // A scan with a scanner of its own shares no result.
    const isSeparate = options.scanner !== undefined;
    const key = isSeparate ? toSeparateKey(origin) : origin.url;
    const joined = isSeparate ? null : this.join(origin, options);
    if (joined !== null) return joined;
    if (this.#brokenChecks !== null) return Promise.reject(this.#brokenChecks);
    if (this.isSaturated(options.isFree)) return Promise.reject(new Saturated());
    // A separate scan of this host gives way to a scan that somebody pays for.
    if (!isSeparate && options.isFree !== true)
      this.#scans.get(toSeparateKey(origin))?.ending.abort(new Saturated());

    const { promise: finished, resolve } = Promise.withResolvers<FinishedScan>();
    const scan: InFlightScan = {
      finished,
      scanId: null,
      listeners: [],
      withRecording: false,
      // `addCaller` lowers it if the caller pays.
      isFree: true,
      ending: new AbortController(),
    };
    addCaller(scan, options);
    this.#scans.set(key, scan);
    const remove = () => this.#scans.delete(key);
    resolve(this.#scanOnceAmongInstances(origin, options, scan).finally(remove));
    // Every caller may have left when the scan fails, so the rejection is handled here.
    finished.catch((error: unknown) => {
      if (error instanceof BrokenChecks) this.#brokenChecks ??= error;
      if (!scan.ending.signal.aborted) this.#options.onError?.(error);
    });
    return finished;
  }

  /** Returns the stored recording of a finished scan, or makes and stores it now; null if it is too late for that. */
  async provideRecording({ scanId, keepRecording }: FinishedScan): Promise<StoredRecording | null> {
    const { results } = this.#options.store;
    return (await results.findRecording(scanId)) ?? (await keepRecording?.()) ?? null;
  }

  /** Publishes a finished scan to cache, directory and changes. Idempotent. `paidBy` is `payer` by default. */
  async publish(scanId: string, paidBy?: PaidBy): Promise<void> {
    const { store, catalogFacts, onPublished } = this.#options;
    const result = await store.results.findByScan(scanId);
    if (result === null) throw new Error(`Scan ${scanId} is not stored: nothing to publish.`);
    const scan = fromStoredReport(result);
    await store.publish(toPublishedScan(scan, catalogFacts, paidBy), toTally(scan.report));
    onPublished?.(result.host);
  }

  /** Waits up to `graceMs` for scans in flight, then abandons them. */
  async close(graceMs = 0): Promise<void> {
    this.#isClosing = true;
    const ended = Promise.allSettled([...this.#scans.values()].map(({ finished }) => finished));
    await Promise.race([ended, pause(graceMs, undefined, { ref: false })]);
    this.#abandonment.abort(new Saturated());
    await ended;
  }

  async #scanOnceAmongInstances(
    origin: Origin,
    options: ScanRunOptions,
    scan: InFlightScan,
  ): Promise<FinishedScan> {
    const { store } = this.#options;
    const { signal } = this.#abandonment;
    const isSeparate = options.scanner !== undefined;
    const data = isSeparate ? SEPARATE : undefined;
    for (;;) {
      signal.throwIfAborted();
      const outcome = await store.leases.takeSole(['scan', origin.host], LEASE_LIFETIME_MS, data);
      if (outcome.taken) return await this.#scanUnderLease(outcome.lease, origin, options, scan);
      if (isSeparate) throw new Saturated();
      const waiting = { origin, needs: scan, signal };
      const finished = await awaitOtherInstance(store, outcome.holder, waiting);
      if (finished !== null) return finished; // null: the other scan left no result for these callers
    }
  }

  async #scanUnderLease(
    lease: Lease,
    origin: Origin,
    { submittedUrl = origin.url, findEarlierScan, scanner: ownScanner }: ScanRunOptions,
    scan: InFlightScan,
  ): Promise<FinishedScan> {
    const { scanner, store } = this.#options;
    try {
      const earlierScan = await findEarlierScan?.();
      if (earlierScan) return earlierScan;
      const scanId = randomUUID();
      scan.scanId = scanId;
      for (const onScan of scan.listeners) onScan(scanId);
      // Waiting instances take no result that is older than the lease.
      const scannedAtMs = Math.max(store.now(), lease.takenAtMs);
      const signal = AbortSignal.any([this.#abandonment.signal, scan.ending.signal]);
      const scanning = (ownScanner ?? scanner).scan(origin, {
        signal,
        hasRecord: await this.#hasRecord(origin),
        scannedAt: new Date(scannedAtMs).toISOString(),
      });
      const finished = await awaitOrAbandon(signal, scanning);
      const { report, branding, signals, observations, sold } = finished;
      const makeRecording = (withText: boolean) =>
        scanner.record({ recording: toRecording(report, observations), withText });
      const keepRecording = () => this.#keepRecording(scanId, makeRecording(true));
      const { withRecording } = scan;
      // The digest is made apart, because the long text may exceed the limits of a worker.
      const [recorded] = await Promise.all([
        makeRecording(false),
        withRecording ? keepRecording() : null,
      ]);
      const findings: ScanFindings = {
        report,
        branding,
        signals,
        sold,
        reached: hasAnswered(observations),
        rateLimited: hasOnly429(observations) || isUnjudged(report),
        dayWord: toScanDayWord(observations),
        scannerVersion: SCANNER_VERSION,
        observationsSha256: recorded?.observationsSha256 ?? null,
      };
      const { host } = origin;
      await store.results.save({ scanId, host, scannedAtMs, submittedUrl, report: findings });
      return { scanId, host, ...findings, keepRecording };
    } finally {
      // A failed release must neither hide the scan's outcome nor delay its callers.
      await store.leases.release(lease).catch((error: unknown) => {
        this.#options.onError?.(error);
        this.#releaseLater(lease).catch(() => undefined);
      });
    }
  }

  async #hasRecord({ host }: Origin): Promise<boolean> {
    return (await this.#options.store.directory.get(host)) !== null;
  }

  async #keepRecording(
    scanId: string,
    recording: Promise<RecordedScan | null>,
  ): Promise<StoredRecording> {
    const stored = { text: (await recording)?.text ?? null };
    await this.#options.store.results.keepRecording(scanId, stored);
    return stored;
  }

  /** Retries, because an unreleased lease blocks this origin on all instances until it expires. */
  async #releaseLater(lease: Lease): Promise<void> {
    const { store } = this.#options;
    const { signal } = this.#abandonment;
    for (;;) {
      await pause(RELEASE_INTERVAL_MS, undefined, { signal, ref: false });
      if (store.now() > lease.expiresAtMs) return;
      const released = await store.leases.release(lease).then(
        () => true,
        () => false,
      );
      if (released) return;
    }
  }
}

function toSeparateKey({ url }: Origin): string {
  return `${SEPARATE} ${url}`;
}

function addCaller(scan: InFlightScan, options: JoinOptions): void {
  const { onScan, withRecording = false, isFree = false } = options;
  scan.withRecording ||= withRecording;
  scan.isFree &&= isFree;
  if (onScan === undefined) return;
  if (scan.scanId === null) scan.listeners.push(onScan);
  else onScan(scan.scanId);
}
