import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Saturated, ScanProcessing } from '../errors/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Origin } from '../origin/origin.ts';
import type { Lease } from '../store/contract/leases.ts';
import type { Store } from '../store/contract/store.ts';
import {
  type FinishedScan,
  fromStoredReport,
  toPublishedScan,
  toStoredReport,
} from './finished-scan.ts';
import type { Scanner } from './scanner.ts';

export type { FinishedScan } from './finished-scan.ts';

export type RunOptions = {
  /** The caller left: rejects with the signal's reason. The scan goes on. */
  readonly signal?: AbortSignal | undefined;
  /** How long this caller waits before `ScanProcessing`; default `scanTimeoutMs`. */
  readonly withinMs?: number | undefined;
  /** As the caller wrote it; kept with the result, and purged with it. */
  readonly submittedUrl?: string | undefined;
};

/** Scans for many callers at once: one scan an origin, in this process and across hosts. */
export type ScanHost = {
  /** Refuses blocked addresses before anything is charged. Throws OriginRefused. */
  admit(origin: Origin): Promise<void>;
  /**
   * Joins the scan of this origin that is in flight, or starts one, and stores its result privately.
   * Throws ScanProcessing when this caller's time is up, Saturated, ScannerFailure, OriginRefused,
   * StoreError.
   */
  run(origin: Origin, options?: RunOptions): Promise<FinishedScan>;
  /** Makes a finished scan public: cache, directory, changes. May be done again. */
  publish(scanId: string): Promise<void>;
  /** True while a new scan would be refused; joining one in flight is always possible. */
  isSaturated(): boolean;
  /** Scans that this process runs now. */
  running(): number;
  /** Lets scans in flight end for `graceMs`, then abandons them. */
  close(graceMs?: number): Promise<void>;
};

export type ScanHostOptions = {
  readonly scanner: Scanner;
  readonly store: Store;
  /** When a caller is answered 504. */
  readonly scanTimeoutMs: number;
  /** Stored beside every published scan, such as the name of the scoring. */
  readonly catalogFacts: JsonObject;
  readonly maxScans?: number | undefined;
  /** Told of scans that failed after every caller had left. */
  readonly onError?: ((error: unknown) => void) | undefined;
};

/** One scan reads at most 16 MiB: this bounds what hostile origins can make us hold. */
const MAX_SCANS = 32;
/** A scan ends 70 s after it began; storing it takes a moment more. */
const LEASE_LIFETIME_MS = 90_000;
const POLL_INTERVAL_MS = 200;
const RELEASE_INTERVAL_MS = 1_000;

export function createScanHost(options: ScanHostOptions): ScanHost {
  const flights = new ScanFlights(options);
  const { scanner, store, catalogFacts, scanTimeoutMs } = options;
  return {
    admit: (origin) => scanner.admit(origin),
    run: (origin, { signal, withinMs = scanTimeoutMs, submittedUrl = origin.url } = {}) =>
      waitWithin(flights.join(origin, submittedUrl), withinMs, signal),
    async publish(scanId) {
      const result = await store.results.byScan(scanId);
      if (result === null) throw new Error(`Scan ${scanId} is not stored: nothing to publish.`);
      await store.publish(toPublishedScan(fromStoredReport(result), catalogFacts));
    },
    isSaturated: () => flights.isFull(),
    running: () => flights.size,
    close: (graceMs = 0) => flights.close(graceMs),
  };
}

/** The scans in flight of this process, by origin. */
class ScanFlights {
  readonly #options: ScanHostOptions;
  readonly #flights = new Map<string, Promise<FinishedScan>>();
  readonly #abandoned = new AbortController();
  #closing = false;

  constructor(options: ScanHostOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#flights.size;
  }

  isFull(): boolean {
    const { scanner, maxScans = MAX_SCANS } = this.#options;
    return this.#closing || this.#flights.size >= maxScans || scanner.isSaturated?.() === true;
  }

  join(origin: Origin, submittedUrl: string): Promise<FinishedScan> {
    const flight = this.#flights.get(origin.url);
    if (flight !== undefined) return flight;
    if (this.isFull()) return Promise.reject(new Saturated());

    const started = this.#scanOnceAmongHosts(origin, submittedUrl).finally(() =>
      this.#flights.delete(origin.url),
    );
    // Every caller may have left by the time it fails.
    started.catch((error: unknown) => this.#options.onError?.(error));
    this.#flights.set(origin.url, started);
    return started;
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const ended = Promise.allSettled(this.#flights.values());
    const stopWaiting = new AbortController();
    const grace = pause(graceMs, undefined, { signal: stopWaiting.signal }).catch(() => undefined);
    await Promise.race([ended, grace]);
    stopWaiting.abort();
    this.#abandoned.abort(new Saturated());
    await ended;
  }

  async #scanOnceAmongHosts(origin: Origin, submittedUrl: string): Promise<FinishedScan> {
    const { leases } = this.#options.store;
    for (;;) {
      this.#abandoned.signal.throwIfAborted();
      const turn = await leases.take({
        name: `scan:${origin.host}`,
        attempt: randomUUID(),
        lifetimeMs: LEASE_LIFETIME_MS,
      });
      if (turn.held) return await this.#scanUnderLease(turn.lease, origin, submittedUrl);
      const finished = await this.#awaitOtherHost(turn.heldBy, origin);
      if (finished !== null) return finished;
    }
  }

  async #scanUnderLease(lease: Lease, origin: Origin, submittedUrl: string) {
    const { scanner, store } = this.#options;
    try {
      // Never before the lease: hosts that wait look for results from its beginning on.
      const scannedAtMs = Math.max(store.now(), lease.takenAtMs);
      const scannedAt = new Date(scannedAtMs).toISOString();
      const outcome = await scanner.scan(origin, { signal: this.#abandoned.signal });
      const finished: FinishedScan = {
        scanId: randomUUID(),
        host: origin.host,
        origin: origin.url,
        scannedAt,
        report: { ...outcome.report, scannedAt },
        branding: outcome.branding,
        signals: outcome.signals,
      };
      const { scanId, host } = finished;
      const report = toStoredReport(finished);
      await store.results.save({ scanId, host, scannedAtMs, submittedUrl, report });
      return finished;
    } finally {
      // The scan's own outcome matters more, and nobody is to wait for a store that is gone.
      await store.leases.release(lease).catch((error: unknown) => {
        this.#options.onError?.(error);
        this.#releaseLater(lease).catch(() => undefined);
      });
    }
  }

  /** Until it expired, no host could scan this origin. */
  async #releaseLater(lease: Lease): Promise<void> {
    const { store } = this.#options;
    const { signal } = this.#abandoned;
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

  /** The result of a scan that another host runs, or null if that ended without one. */
  async #awaitOtherHost(lease: Lease, origin: Origin): Promise<FinishedScan | null> {
    const { leases, results } = this.#options.store;
    for (;;) {
      // Asked first: a result is stored before its lease is released.
      const isRunning = await leases.isHeld(lease);
      const sinceMs = lease.takenAtMs;
      // A payer of the other host may have published it between two looks.
      const result =
        (await results.waiting(origin.host, sinceMs)) ?? (await results.published(origin.host));
      if (result !== null && result.scannedAtMs >= sinceMs) {
        const finished = fromStoredReport(result);
        if (finished.origin === origin.url) return finished;
      }
      if (!isRunning) return null;
      await pause(POLL_INTERVAL_MS, undefined, { signal: this.#abandoned.signal });
    }
  }
}

/** Leaves the work running when the caller's time is up or the caller has gone. */
function waitWithin<T>(work: Promise<T>, ms: number, signal: AbortSignal | undefined): Promise<T> {
  const leave = Promise.withResolvers<never>();
  const onAbort = () => leave.reject(signal?.reason);
  const timer = setTimeout(() => leave.reject(new ScanProcessing()), Math.max(0, ms));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  return Promise.race([work, leave.promise]).finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  });
}
