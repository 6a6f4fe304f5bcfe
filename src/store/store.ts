import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { answersOn } from './answers.ts';
import { censusOn } from './census.ts';
import { changesOn } from './changes.ts';
import type { EngineContext } from './context.ts';
import { directoryOn, exportsOn, historyOn } from './directory.ts';
import { identifiersOn } from './identifiers.ts';
import { ledgerOn } from './ledger.ts';
import { listingOn } from './listing.ts';
import { ownershipOn } from './ownership.ts';
import type { InstanceId } from './payment-tables.ts';
import { publishOn } from './publish.ts';
import type { PublishedScan } from './published-scan.ts';
import { type PurgeReport, purgeOn } from './purge.ts';
import { resultsOn, snapshotsOn } from './results.ts';
import { signingKeysOn } from './signing-keys.ts';
import { slotsOn } from './slots.ts';
import { statisticsOn, type Tally } from './statistics.ts';
import { watchesOn } from './watches.ts';

/** Options of `openStore(url, options)`; each may be left out. */
export type OpenStoreOptions = {
  /** Default: this machine's name, and a random id of this start. */
  readonly owner?: InstanceId | undefined;
  /** Milliseconds since the epoch; tests move it. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** For tests only: a factor on the times of heartbeats and silence. Default 1. */
  readonly timeScale?: number | undefined;
  /** Time that a remote database may take to answer at the start; default 5000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Called with background failures that no call reports, such as a missed heartbeat. */
  readonly onError?: ((message: string, error: unknown) => void) | undefined;
};

export type StoreInfo = {
  readonly kind: 'sqlite' | 'mongodb';
  /** For logs and `/health`: the path, or the servers and database, without credentials. */
  readonly location: string;
  /** Written into every row that this process owns. */
  readonly owner: InstanceId;
};

export const HEARTBEAT_INTERVAL_MS = 5_000;
/** Others may take over what an owner holds after this long without a heartbeat (database time). */
export const SILENT_AFTER_MS = 20_000;

/**
 * Settings that all instances on one store must share, compared as strings. `signingKey` is the id of the key that
 * `SIGNING_KEY` holds, or "kept in the store".
 */
export const MEMBERSHIP_SETTINGS = [
  'revision',
  'network',
  'asset',
  'payTo',
  'baseUrl',
  'catalog',
  'signingKey',
] as const;

export type MembershipSettings = Readonly<Record<(typeof MEMBERSHIP_SETTINGS)[number], string>>;

/** The processes that live on this store. */
export type InstanceStore = {
  /**
   * Joins and keeps a heartbeat until `leave` or `close`. Rejects `incompatible`, naming the setting,
   * while instances with other settings live on the store, or while another living instance has the same
   * `signer` (the address that sends settlements). A predecessor that crashed counts as living until it is
   * silent, so a conflict is waited out for up to `waitMs` (default 25 s).
   */
  join(request: {
    readonly settings: MembershipSettings;
    readonly signer?: string | undefined;
    readonly waitMs?: number | undefined;
    /** Called when a later heartbeat finds that instances with other settings have taken the store. */
    readonly onEvicted?: ((reason: Error) => void) | undefined;
  }): Promise<void>;

  /** True while the owner of a row lives. Embedded store: only this very process does. */
  isAlive(owner: InstanceId): Promise<boolean>;

  /** Ends the heartbeat at once, so that others need not wait for this instance's silence. */
  leave(): Promise<void>;
};

/** Fixed-window counters for request rates. Nothing is synced: a lost count lets a few more through. */
export type LimitStore = {
  /**
   * Counts one request; windows begin at multiples of `windowMs` since the epoch. Resolves to the number of requests
   * of this key in this window, this one included.
   */
  hit(
    key: string,
    windowMs: number,
  ): Promise<{ readonly count: number; readonly resetAtMs: number }>;
};

/** Beyond it the least recently used counters are dropped, so that many clients cannot fill the memory. */
const MAX_COUNTERS = 100_000;

/** The parts of a store that an engine provides beside its tables. */
export type EngineParts = {
  readonly info: Omit<StoreInfo, 'owner'>;
  /** Left out if one process uses the store. */
  readonly sharing?: {
    readonly limits: LimitStore;
    readonly instances: InstanceStore;
    /** Removes expired counters and silent instances; returns their number. */
    readonly purge: (nowMs: number) => Promise<number>;
  };

  /** Resolves while the database answers; `unavailable` otherwise, within a few seconds. */
  ping(): Promise<void>;

  /** Leaves, waits for writes in progress, releases the lock. May be called twice. */
  close(): Promise<void>;
};

/**
 * The service's whole persistent state. Both implementations pass one contract suite.
 *
 * Every race between instances or requests is decided by one insert under a unique key, never by a read
 * followed by an update. Every method rejects with `StoreError` only. Times are database time in ms.
 */
export type Store = Readonly<ReturnType<typeof storeOn>>;

/** Builds a store from the shared rules over tables and the parts of its engine. */
export function storeOn(engineContext: EngineContext, { sharing, ...engine }: EngineParts) {
  const context = { ...engineContext, changeWriters: new PQueue({ concurrency: 1 }) };
  const { owner, isAlive, now } = context;
  const slots = slotsOn(context);
  const info: StoreInfo = { ...engine.info, owner };
  const limits: LimitStore = sharing?.limits ?? memoryLimits(now);
  const alone: InstanceStore = { join: async () => {}, isAlive, leave: async () => {} };
  return {
    ...engine,
    info,
    limits,
    instances: sharing?.instances ?? alone,
    ledger: ledgerOn(context),
    answers: answersOn(context),
    identifiers: identifiersOn(context),
    results: resultsOn(context),
    directory: directoryOn(context),
    history: historyOn(context),
    exports: exportsOn(context),
    changes: changesOn(context),
    ownership: ownershipOn(context, slots),
    slots,
    listing: listingOn(context),
    snapshots: snapshotsOn(context),
    statistics: statisticsOn(context),
    watches: watchesOn(context),
    census: censusOn(context),
    signingKeys: signingKeysOn(context),

    /** Database time, ms since the epoch, without a round trip. */
    now,

    /**
     * Publishes a scan: history row, directory record, change. Everything in it is keyed by the scan's
     * id, so it may be run again after a crash, and by several instances at once. The current record is the
     * scan with the greatest `scannedAtMs`, in whatever order scans are published.
     * @param tally what the scan adds to the statistics, if it is the first of a listed host in this UTC day
     */
    publish: (scan: PublishedScan, tally?: Tally): Promise<void> => publishOn(context, scan, tally),

    /**
     * Folds finished days of statistics, and removes rows whose retention is over at `nowMs` (database time).
     * Works in batches, so that other calls are served between them. Safe at any time, also from several
     * instances at once.
     */
    purge: (nowMs: number): Promise<PurgeReport> => purgeOn(context, sharing?.purge, nowMs),
  };
}

/** Counters of the one process that uses an embedded store; a restart resets them. */
function memoryLimits(now: () => number): LimitStore {
  const counters = new LRUCache<string, { readonly count: number; readonly resetAtMs: number }>({
    max: MAX_COUNTERS,
  });
  return {
    async hit(key, windowMs) {
      const resetAtMs = (Math.floor(now() / windowMs) + 1) * windowMs;
      const known = counters.get(key);
      const count = known?.resetAtMs === resetAtMs ? known.count + 1 : 1;
      counters.set(key, { count, resetAtMs });
      return { count, resetAtMs };
    },
  };
}
