import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isUnjudged } from '../../scanner/engine/score.ts';
import type { Origin } from '../../scanner/guard/origin.ts';
import { readPackageVersion } from '../../scanner/probe/client/user-agent.ts';
import { toRecording } from '../../scanner/probe/recording.ts';
import type { RecordedScan } from '../../scanner/scan/record-observations.ts';
import { BrokenChecks } from '../../scanner/scan/scanner.ts';
import { Saturated } from '../errors/errors.ts';
import type { Lease, LeaseScope, LeaseStore } from '../store/leases.ts';
import type { StoredRecording } from '../store/results.ts';
import type { Store } from '../store/store.ts';
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
} from './finished-scan.ts';

/** Default maximum of paid scans. It bounds the memory of the process, because one scan reads up to 16 MiB. */
export const MAX_SCANS = 32;
/** Maximum of free scans in addition to the paid ones. */
const MAX_FREE_SCANS = 16;
/** A scan ends within 70 s, and storing it takes a little longer. */
const LEASE_LIFETIME_MS = 90_000;
const SCANNER_VERSION = readPackageVersion();
const POLL_INTERVAL_MS = 200;
const RELEASE_INTERVAL_MS = 1_000;
/** Marks the lease of a scan whose result no other caller gets. */
const SEPARATE = 'apart';

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

/** The scans in flight of this process, by origin. */
export class InFlightScans {
  readonly #options: ScanCoordinatorOptions;
  readonly #scans = new Map<string, InFlightScan>();
  /** Aborted when the time to close is over. All scans then end as Saturated. */
  readonly #abandonment = new AbortController();
  #isClosing = false;
  #brokenChecks: BrokenChecks | null = null;

  constructor(options: ScanCoordinatorOptions) {
    this.#options = options;
  }

  /** Number of scans that a caller pays for. */
  get paidCount(): number {
    return [...this.#scans.values()].filter(({ isFree }) => !isFree).length;
  }

  /** The error of the first scan whose checks broke on a good origin; null if there is none. No scan begins after it. */
  get brokenChecks(): BrokenChecks | null {
    return this.#brokenChecks;
  }

  /** True while a new scan would be refused. */
  isFull(isFree = false): boolean {
    const { scanner, maxScans = MAX_SCANS } = this.#options;
    if (this.#isClosing || scanner.isSaturated()) return true;
    const { paidCount } = this;
    if (!isFree) return paidCount >= maxScans;
    return paidCount >= maxScans / 2 || this.#scans.size - paidCount >= MAX_FREE_SCANS;
  }

  isRunning({ url }: Origin): boolean {
    return this.#scans.has(url);
  }

  join({ url }: Origin, options: JoinOptions = {}): Promise<FinishedScan> | null {
    const scan = this.#scans.get(url);
    if (scan === undefined) return null;
    addCaller(scan, options);
    return scan.finished;
  }

  run(origin: Origin, options: ScanRunOptions): Promise<FinishedScan> {
    const isSeparate = options.scanner !== undefined;
    const key = isSeparate ? toSeparateKey(origin) : origin.url;
    const joined = isSeparate ? null : this.join(origin, options);
    if (joined !== null) return joined;
    if (this.#brokenChecks !== null) return Promise.reject(this.#brokenChecks);
    if (this.isFull(options.isFree)) return Promise.reject(new Saturated());
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

  async close(graceMs: number): Promise<void> {
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
    const { leases } = this.#options.store;
    for (;;) {
      this.#abandonment.signal.throwIfAborted();
      const isSeparate = options.scanner !== undefined;
      const data = isSeparate ? SEPARATE : undefined;
      const outcome = await leases.takeSole(['scan', origin.host], LEASE_LIFETIME_MS, data);
      if (outcome.taken) return await this.#scanUnderLease(outcome.lease, origin, options, scan);
      if (isSeparate) throw new Saturated();
      const { holder } = outcome;
      const mark = scan.isFree ? null : await markWanted(leases, origin, holder);
      const finished = await this.#awaitOtherInstance(holder, origin, scan).finally(() =>
        mark === null ? undefined : leases.release(mark),
      );
      if (finished !== null) return finished;
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
      // Not earlier than the lease. Waiting instances take no result that is older than the lease.
      const scannedAtMs = Math.max(store.now(), lease.takenAtMs);
      const outcome = await (ownScanner ?? scanner).scan(origin, {
        signal: AbortSignal.any([this.#abandonment.signal, scan.ending.signal]),
        hasRecord: await hasRecord(store, origin),
        scannedAt: new Date(scannedAtMs).toISOString(),
      });
      const { report, branding, signals, observations, sold } = outcome;
      const makeRecording = (withText: boolean) =>
        scanner.record({ recording: toRecording(report, observations), withText });
      const keepRecording = () => this.#keepRecording(scanId, makeRecording(true));
      const { withRecording } = scan;
      const [recorded] = await Promise.all([
        makeRecording(false),
        withRecording ? keepRecording() : null,
      ]);
      const findings: ScanFindings = {
        ...{ report, branding, signals, sold },
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

  /** Waits for another instance's result. Returns null if its scan ended without a result. */
  async #awaitOtherInstance(
    lease: Lease,
    origin: Origin,
    scan: InFlightScan,
  ): Promise<FinishedScan | null> {
    const { leases, results } = this.#options.store;
    for (;;) {
      // The lease is read before the result, because a scan stores its result before it releases its lease.
      const isRunning = await leases.isHeld(lease);
      const sinceMs = lease.takenAtMs;
      // A payer of the other instance may have published the result between two polls.
      const result =
        lease.data === SEPARATE
          ? null
          : ((await results.findUnpublished(origin.host, sinceMs)) ??
            (await results.findPublished(origin.host)));
      if (result !== null && result.scannedAtMs >= sinceMs) {
        const finished = fromStoredReport(result);
        const hasNeededRecording =
          !scan.withRecording || (await results.findRecording(finished.scanId)) !== null;
        if (finished.report.origin === origin.url && hasNeededRecording) return finished;
      }
      if (!isRunning) return null;
      await pause(POLL_INTERVAL_MS, undefined, { signal: this.#abandonment.signal });
    }
  }
}

function toSeparateKey({ url }: Origin): string {
  return `apart ${url}`;
}

/** Tells a separate scan of another instance that somebody pays for a scan of its host. */
async function markWanted(
  leases: LeaseStore,
  { host }: Origin,
  holder: Lease,
): Promise<Lease | null> {
  if (holder.data !== SEPARATE) return null;
  const mark = await leases.takeSole(toWantedScope(host), LEASE_LIFETIME_MS);
  return mark.taken ? mark.lease : null;
}

/** The lease of this scope is taken while a payer waits for the end of a separate scan. */
export function toWantedScope(host: string): LeaseScope {
  return ['scan-wanted', host];
}

export async function hasRecord(store: Store, { host }: Origin): Promise<boolean> {
  return (await store.directory.get(host)) !== null;
}

function addCaller(scan: InFlightScan, options: JoinOptions): void {
  const { onScan, withRecording = false, isFree = false } = options;
  scan.withRecording ||= withRecording;
  scan.isFree &&= isFree;
  if (onScan === undefined) return;
  if (scan.scanId === null) scan.listeners.push(onScan);
  else onScan(scan.scanId);
}
