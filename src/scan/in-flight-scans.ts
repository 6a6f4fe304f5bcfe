import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Origin } from '../guard/origin.ts';
import { Saturated } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { toRecording } from '../probe/recording.ts';
import type { StoredRecording } from '../store/results.ts';
import type { Slot } from '../store/slots.ts';
import type { Store } from '../store/store.ts';
import { wordOfScan } from './day-word.ts';
import {
  type FinishedScan,
  fromStoredReport,
  metOnly429,
  type RecordedScan,
  toStoredReport,
  wasReached,
} from './finished-scan.ts';
import type { Scanner } from './scanner.ts';

export type JoinOptions = {
  /** Called with the scan's id once it is known. */
  readonly onScan?: ((scanId: string) => void) | undefined;
  /** True to keep the scan's recording, for `recordingOf`. */
  readonly withRecording?: boolean | undefined;
  /**
   * True when nobody pays. Free scans have places of their own, and are refused as Saturated while paid
   * scans use half of theirs. A paying caller may join a free scan.
   */
  readonly isFree?: boolean | undefined;
};

export type ScanRunOptions = JoinOptions & {
  /** The caller's own spelling; stored and purged with the result. */
  readonly submittedUrl?: string | undefined;
  /**
   * Finds a finished scan that serves this caller too, such as another instance's. It is called once no
   * instance can be scanning, and prevents a repeated scan.
   */
  readonly finishedBefore?: (() => Promise<FinishedScan | null>) | undefined;
  /**
   * Scans in place of the service's own scanner. Such a scan stands apart: nobody else's result serves it, and its result
   * serves nobody else.
   */
  readonly scanner?: Pick<Scanner, 'scan'> | undefined;
};

export type ScanCoordinatorOptions = {
  readonly scanner: Scanner;
  readonly store: Store;
  /** Stored with every published scan, such as the name of the scoring. */
  readonly catalogFacts: JsonObject;
  readonly maxScans?: number | undefined;
  /** Called once a scan is published. */
  readonly onPublished?: ((host: string) => void) | undefined;
  /** Told of scans that failed after every caller had left. */
  readonly onError?: ((error: unknown) => void) | undefined;
};

/** Bounds memory: one scan reads at most 16 MiB. */
export const MAX_SCANS = 32;
/** Free scans beside the paid ones: as many as looks have places. */
const MAX_FREE_SCANS = 16;
/** A scan ends within 70 s; storing it takes a moment more. */
const LEASE_LIFETIME_MS = 90_000;
const POLL_INTERVAL_MS = 200;
const RELEASE_INTERVAL_MS = 1_000;
/** Marks the lease of a scan whose result serves nobody else. */
const APART = 'apart';

/** A scan in flight. Its id is known once this instance holds the lease. */
type InFlightScan = {
  readonly finished: Promise<FinishedScan>;
  scanId: string | null;
  readonly listeners: ((scanId: string) => void)[];
  /** True when some caller wants its recording. */
  withRecording: boolean;
  /** True while no caller pays. */
  isFree: boolean;
};

/** This process's scans in flight, by origin. */
export class InFlightScans {
  readonly #options: ScanCoordinatorOptions;
  readonly #scans = new Map<string, InFlightScan>();
  readonly #abandoned = new AbortController();
  #closing = false;

  constructor(options: ScanCoordinatorOptions) {
    this.#options = options;
  }

  /** Number of scans that a caller pays for. */
  get paid(): number {
    return [...this.#scans.values()].filter(({ isFree }) => !isFree).length;
  }

  isFull(isFree = false): boolean {
    const { scanner, maxScans = MAX_SCANS } = this.#options;
    if (this.#closing || scanner.isSaturated?.() === true) return true;
    const { paid } = this;
    if (!isFree) return paid >= maxScans;
    return paid >= maxScans / 2 || this.#scans.size - paid >= MAX_FREE_SCANS;
  }

  join({ url }: Origin, options: JoinOptions = {}): Promise<FinishedScan> | null {
    const scan = this.#scans.get(url);
    if (scan === undefined) return null;
    listen(scan, options);
    return scan.finished;
  }

  run(origin: Origin, options: ScanRunOptions): Promise<FinishedScan> {
    const isApart = options.scanner !== undefined;
    const name = isApart ? `apart ${origin.url}` : origin.url;
    const joined = isApart ? null : this.join(origin, options);
    if (joined !== null) return joined;
    if (this.isFull(options.isFree)) return Promise.reject(new Saturated());

    const { promise, resolve } = Promise.withResolvers<FinishedScan>();
    const unheard = { scanId: null, listeners: [], withRecording: false, isFree: true };
    const scan: InFlightScan = { finished: promise, ...unheard };
    listen(scan, options);
    this.#scans.set(name, scan);
    const started = this.#scanOnceAmongInstances(origin, options, scan).finally(() =>
      this.#scans.delete(name),
    );
    // Every caller may have left when it fails, so the rejection is handled here.
    started.catch((error: unknown) => this.#options.onError?.(error));
    resolve(started);
    promise.catch(() => undefined);
    return promise;
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const ended = Promise.allSettled([...this.#scans.values()].map(({ finished }) => finished));
    const stopWaiting = new AbortController();
    const grace = pause(graceMs, undefined, { signal: stopWaiting.signal }).catch(() => undefined);
    await Promise.race([ended, grace]);
    stopWaiting.abort();
    this.#abandoned.abort(new Saturated());
    await ended;
  }

  async #scanOnceAmongInstances(
    origin: Origin,
    options: ScanRunOptions,
    scan: InFlightScan,
  ): Promise<FinishedScan> {
    const { slots } = this.#options.store;
    for (;;) {
      this.#abandoned.signal.throwIfAborted();
      const isApart = options.scanner !== undefined;
      const data = isApart ? APART : undefined;
      const lease = await slots.lease(['scan', origin.host], LEASE_LIFETIME_MS, data);
      if (lease.taken) return await this.#scanUnderLease(lease.slot, origin, options, scan);
      if (isApart) throw new Saturated();
      const finished = await this.#awaitOtherInstance(lease.holder, origin, scan);
      if (finished !== null) return finished;
    }
  }

  async #scanUnderLease(
    lease: Slot,
    origin: Origin,
    { submittedUrl = origin.url, finishedBefore, ...wanted }: ScanRunOptions,
    scan: InFlightScan,
  ): Promise<FinishedScan> {
    const { scanner, store } = this.#options;
    try {
      const before = await finishedBefore?.();
      if (before) return before;
      const scanId = randomUUID();
      scan.scanId = scanId;
      for (const onScan of scan.listeners) onScan(scanId);
      // Not before the lease: waiting instances look for results from its start on.
      const scannedAtMs = Math.max(store.now(), lease.takenAtMs);
      const scannedAt = new Date(scannedAtMs).toISOString();
      const outcome = await (wanted.scanner ?? scanner).scan(origin, {
        signal: this.#abandoned.signal,
        hasRecord: await hasRecord(store, origin),
      });
      const report = { ...outcome.report, scannedAt };
      const record = (withText: boolean) =>
        scanner.record({ recording: toRecording(report, outcome.observations), withText });
      const keepRecording = () => this.#keepRecording(scanId, record(true));
      const { withRecording } = scan;
      const [recorded] = await Promise.all([record(false), withRecording ? keepRecording() : null]);
      const finished: FinishedScan = {
        scanId,
        host: origin.host,
        origin: origin.url,
        scannedAt,
        report,
        branding: outcome.branding,
        signals: outcome.signals,
        reached: wasReached(outcome.observations),
        rateLimited: metOnly429(outcome.observations),
        dayWord: wordOfScan(outcome.observations),
        observationsSha256: recorded?.observationsSha256 ?? null,
        keepRecording,
      };
      const { host } = finished;
      const stored = toStoredReport(finished);
      await store.results.save({ scanId, host, scannedAtMs, submittedUrl, report: stored });
      return finished;
    } finally {
      // A failed release must neither hide the scan's outcome nor delay its callers.
      await store.slots.release(lease).catch((error: unknown) => {
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
  async #releaseLater(lease: Slot): Promise<void> {
    const { store } = this.#options;
    const { signal } = this.#abandoned;
    for (;;) {
      await pause(RELEASE_INTERVAL_MS, undefined, { signal, ref: false });
      if (store.now() > lease.expiresAtMs) return;
      const released = await store.slots.release(lease).then(
        () => true,
        () => false,
      );
      if (released) return;
    }
  }

  /** Waits for another instance's result; null when its scan ended without one. */
  async #awaitOtherInstance(
    lease: Slot,
    origin: Origin,
    scan: InFlightScan,
  ): Promise<FinishedScan | null> {
    const { slots, results } = this.#options.store;
    for (;;) {
      // Read first, because a result is stored before its lease is released.
      const isRunning = await slots.isHeld(lease);
      const sinceMs = lease.takenAtMs;
      // A payer of the other instance may have published it between two polls.
      const result =
        lease.data === APART
          ? null
          : ((await results.findUnpublished(origin.host, sinceMs)) ??
            (await results.findPublished(origin.host)));
      if (result !== null && result.scannedAtMs >= sinceMs) {
        const finished = fromStoredReport(result);
        const isWhole =
          !scan.withRecording || (await results.findRecording(finished.scanId)) !== null;
        if (finished.origin === origin.url && isWhole) return finished;
      }
      if (!isRunning) return null;
      await pause(POLL_INTERVAL_MS, undefined, { signal: this.#abandoned.signal });
    }
  }
}

export async function hasRecord(store: Store, { host }: Origin): Promise<boolean> {
  return (await store.directory.get(host)) !== null;
}

function listen(scan: InFlightScan, options: JoinOptions): void {
  const { onScan, withRecording = false, isFree = false } = options;
  scan.withRecording ||= withRecording;
  scan.isFree &&= isFree;
  if (onScan === undefined) return;
  if (scan.scanId === null) scan.listeners.push(onScan);
  else onScan(scan.scanId);
}
