import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { OriginRefused } from '../guard/errors.ts';
import type { Origin } from '../guard/origin.ts';
import { Saturated } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Lease } from '../store/contract/leases.ts';
import type { Store } from '../store/contract/store.ts';
import {
  type FinishedScan,
  fromStoredReport,
  toPublishedScan,
  toStoredReport,
} from './finished-scan.ts';
import type { Scanner } from './scanner.ts';
import { toTally } from './tally.ts';
import { wasReached } from './was-reached.ts';

export type { FinishedScan } from './finished-scan.ts';

export type RunOptions = {
  /** The caller's own spelling; stored and purged with the result. */
  readonly submittedUrl?: string | undefined;
  /** Called with the scan's id once it is known. */
  readonly onScan?: ((scanId: string) => void) | undefined;
  /**
   * Finds a finished scan that serves this caller too, such as another instance's. It is called once no
   * instance can be scanning, and prevents a repeated scan.
   */
  readonly finishedBefore?: (() => Promise<FinishedScan | null>) | undefined;
};

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
  run(origin: Origin, options?: RunOptions): Promise<FinishedScan>;
  /** Joins this process's scan in flight; null when there is none. */
  join(origin: Origin, onScan?: (scanId: string) => void): Promise<FinishedScan> | null;
  /** Publishes a finished scan to cache, directory and changes. Idempotent. */
  publish(scanId: string): Promise<void>;
  /** True while a new scan would be refused; joining one in flight always works. */
  isSaturated(): boolean;
  /** Maximum of scans in this process. */
  readonly maxScans: number;
  /** Number of scans running in this process. */
  running(): number;
  /** Waits up to `graceMs` for scans in flight, then abandons them. */
  close(graceMs?: number): Promise<void>;
};

export type ScanCoordinatorOptions = {
  readonly scanner: Scanner;
  readonly store: Store;
  /** Stored with every published scan, such as the name of the scoring. */
  readonly catalogFacts: JsonObject;
  readonly maxScans?: number | undefined;
  /** Told of scans that failed after every caller had left. */
  readonly onError?: ((error: unknown) => void) | undefined;
};

/** Bounds memory: one scan reads at most 16 MiB. */
const MAX_SCANS = 32;
/** A scan ends within 70 s; storing it takes a moment more. */
const LEASE_LIFETIME_MS = 90_000;
const POLL_INTERVAL_MS = 200;
const RELEASE_INTERVAL_MS = 1_000;

export function createScanCoordinator(options: ScanCoordinatorOptions): ScanCoordinator {
  const inFlight = new InFlightScans(options);
  const { scanner, store, catalogFacts, maxScans = MAX_SCANS } = options;
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
    join: (origin, onScan) => inFlight.join(origin, onScan),
    async publish(scanId) {
      const result = await store.results.byScan(scanId);
      if (result === null) throw new Error(`Scan ${scanId} is not stored: nothing to publish.`);
      const scan = fromStoredReport(result);
      await store.publish(toPublishedScan(scan, catalogFacts), toTally(scan.report));
    },
    isSaturated: () => inFlight.isFull(),
    maxScans,
    running: () => inFlight.size,
    close: (graceMs = 0) => inFlight.close(graceMs),
  };
}

async function hasRecord(store: Store, { host }: Origin): Promise<boolean> {
  return (await store.directory.get(host)) !== null;
}

/** A scan in flight. Its id is known once this instance holds the lease. */
type InFlightScan = {
  readonly finished: Promise<FinishedScan>;
  scanId: string | null;
  readonly listeners: ((scanId: string) => void)[];
};

/** This process's scans in flight, by origin. */
class InFlightScans {
  readonly #options: ScanCoordinatorOptions;
  readonly #scans = new Map<string, InFlightScan>();
  readonly #abandoned = new AbortController();
  #closing = false;

  constructor(options: ScanCoordinatorOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#scans.size;
  }

  isFull(): boolean {
    const { scanner, maxScans = MAX_SCANS } = this.#options;
    return this.#closing || this.#scans.size >= maxScans || scanner.isSaturated?.() === true;
  }

  join({ url }: Origin, onScan?: (scanId: string) => void): Promise<FinishedScan> | null {
    const scan = this.#scans.get(url);
    if (scan === undefined) return null;
    if (onScan !== undefined) listen(scan, onScan);
    return scan.finished;
  }

  run(origin: Origin, options: RunOptions): Promise<FinishedScan> {
    const joined = this.join(origin, options.onScan);
    if (joined !== null) return joined;
    if (this.isFull()) return Promise.reject(new Saturated());

    const { promise, resolve } = Promise.withResolvers<FinishedScan>();
    const scan: InFlightScan = { finished: promise, scanId: null, listeners: [] };
    if (options.onScan !== undefined) listen(scan, options.onScan);
    this.#scans.set(origin.url, scan);
    const started = this.#scanOnceAmongInstances(origin, options, scan).finally(() =>
      this.#scans.delete(origin.url),
    );
    // All callers may have left when it fails, so the rejection is handled here.
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
    options: RunOptions,
    scan: InFlightScan,
  ): Promise<FinishedScan> {
    const { leases } = this.#options.store;
    for (;;) {
      this.#abandoned.signal.throwIfAborted();
      const turn = await leases.take({
        name: `scan:${origin.host}`,
        attempt: randomUUID(),
        lifetimeMs: LEASE_LIFETIME_MS,
      });
      if (turn.held) return await this.#scanUnderLease(turn.lease, origin, options, scan);
      const finished = await this.#awaitOtherInstance(turn.heldBy, origin);
      if (finished !== null) return finished;
    }
  }

  async #scanUnderLease(
    lease: Lease,
    origin: Origin,
    { submittedUrl = origin.url, finishedBefore }: RunOptions,
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
      const outcome = await scanner.scan(origin, {
        signal: this.#abandoned.signal,
        hasRecord: await hasRecord(store, origin),
      });
      const finished: FinishedScan = {
        scanId,
        host: origin.host,
        origin: origin.url,
        scannedAt,
        report: { ...outcome.report, scannedAt },
        branding: outcome.branding,
        signals: outcome.signals,
        reached: wasReached(outcome.observations),
      };
      const { host } = finished;
      const report = toStoredReport(finished);
      await store.results.save({ scanId, host, scannedAtMs, submittedUrl, report });
      return finished;
    } finally {
      // A failed release must neither hide the scan's outcome nor delay its callers.
      await store.leases.release(lease).catch((error: unknown) => {
        this.#options.onError?.(error);
        this.#releaseLater(lease).catch(() => undefined);
      });
    }
  }

  /** Retries, because an unreleased lease blocks this origin on all instances until it expires. */
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

  /** Waits for another instance's result; null when its scan ended without one. */
  async #awaitOtherInstance(lease: Lease, origin: Origin): Promise<FinishedScan | null> {
    const { leases, results } = this.#options.store;
    for (;;) {
      // Read first, because a result is stored before its lease is released.
      const isRunning = await leases.isHeld(lease);
      const sinceMs = lease.takenAtMs;
      // A payer of the other instance may have published it between two polls.
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

function listen(scan: InFlightScan, onScan: (scanId: string) => void): void {
  if (scan.scanId === null) scan.listeners.push(onScan);
  else onScan(scan.scanId);
}
