import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { createAnswerStore } from './answers.ts';
import { createCensusStore } from './census.ts';
import { createChangeStore } from './changes.ts';
import type { EngineContext } from './context.ts';
import { createDirectoryStore, createExportStore, createHistoryStore } from './directory.ts';
import { createExclusionStore } from './exclusions.ts';
import { createIdentifierStore } from './identifiers.ts';
import { createLeaseStore } from './leases.ts';
import { createLedgerStore } from './ledger.ts';
import { createListingStore } from './listing.ts';
import { createOwnershipStore } from './ownership.ts';
import type { InstanceId } from './payment-tables.ts';
import type { PublishedScan } from './published-scan.ts';
import { type PurgeReport, purgeStore } from './purge.ts';
import { createResultStore, createSnapshotStore, publishScan } from './results.ts';
import { createSigningKeyStore } from './signing-keys.ts';
import { createStatisticsStore, type Tally } from './statistics.ts';
import { createWatchStore } from './watches.ts';

export type OpenStoreOptions = {
  /** The process that uses the store. Default: this machine's name, and a random id of this start. */
  readonly owner?: InstanceId | undefined;
  /** Returns milliseconds since the epoch. Only tests set it. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** A factor on the heartbeat interval and on `SILENT_AFTER_MS`. Only tests set it. Default 1. */
  readonly timeScale?: number | undefined;
  /** Longest time until a remote database answers at the start; default 5000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Called with failures in the background that no call can report, such as a missed heartbeat. */
  readonly onError?: ((message: string, error: unknown) => void) | undefined;
};

type StoreInfo = {
  readonly kind: 'sqlite' | 'mongodb';
  /** For logs and `/health`: the path, or the servers and database, without credentials. */
  readonly location: string;
  /** The process that uses the store. The rows that it writes name it as `owner`. */
  readonly owner: InstanceId;
};

export const HEARTBEAT_INTERVAL_MS = 5_000;
/** An instance without a heartbeat for this long counts as gone, and others may take over its leases and payments. */
export const SILENT_AFTER_MS = 20_000;

/** Settings that all instances of a store share. `signingKey` is the id of SIGNING_KEY, or "kept in the store". */
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

/** The processes that use this store. */
export type InstanceStore = {
  /**
   * Registers this process, and writes heartbeats until `leave` or `close`. Rejects `incompatible` if a living instance
   * has other settings, or the same `signer` (the address that sends settlements). An instance that crashed counts as
   * living for `SILENT_AFTER_MS`, so `join` waits up to `waitMs` (default 25 s) for a conflict to end.
   */
  join(request: {
    readonly settings: MembershipSettings;
    readonly signer?: string | undefined;
    readonly waitMs?: number | undefined;
    /** Called if a later heartbeat finds instances with other settings, or finds that this one has lost its signer. */
    readonly onEvicted?: ((reason: Error) => void) | undefined;
  }): Promise<void>;

  /** True while the process that wrote a row lives. On an embedded store only this process can live. */
  isAlive(owner: InstanceId): Promise<boolean>;

  /** Ends the heartbeats and unregisters this process, so that others need not wait until it counts as gone. */
  leave(): Promise<void>;
};

/** Fixed-window counters of requests. They need no sync to disk: a lost count admits a few more requests. */
export type LimitStore = {
  /** The count includes this request. Windows begin at multiples of `windowMs` since the epoch. */
  hit(key: string, windowMs: number): Promise<WindowCount>;
};

type WindowCount = { readonly count: number; readonly resetAtMs: number };

/** The least recently used counters beyond this number are dropped, so that many clients cannot fill the memory. */
const MAX_COUNTERS = 100_000;

/** The parts of a store that an engine (SQLite or MongoDB) provides beside its tables. */
type EngineParts = {
  readonly info: Omit<StoreInfo, 'owner'>;
  /** The parts of a store that several processes share. An embedded store has none. */
  readonly sharing?: {
    readonly limits: LimitStore;
    readonly instances: InstanceStore;
    /** Removes expired counters and instances that are gone, and returns their number. */
    readonly purge: (nowMs: number) => Promise<number>;
  };

  /** Resolves if the database answers. Otherwise rejects `unavailable` within a few seconds. */
  ping(): Promise<void>;

  /** Unregisters this process, waits for writes in progress and releases the lock. May be called twice. */
  close(): Promise<void>;
};

/**
 * The whole persistent state of the service. Both engines pass the same contract suite.
 *
 * Every race between instances or requests is decided by one insert under a unique key, never by a read
 * followed by an update. Every method rejects with `StoreError` only. Times are database time in ms.
 */
export type Store = Readonly<ReturnType<typeof createStore>>;

/** Builds a store from the parts of its engine, and from the rules over tables that all engines share. */
export function createStore(engineContext: EngineContext, { sharing, ...engine }: EngineParts) {
  // Writers of changes race for the next number, so those of one process run one at a time.
  const context = { ...engineContext, changeWriters: new PQueue({ concurrency: 1 }) };
  const { owner, isAlive, now } = context;
  const leases = createLeaseStore(context);
  const info: StoreInfo = { ...engine.info, owner };
  const limits: LimitStore = sharing?.limits ?? createMemoryLimits(now);
  const soleInstance: InstanceStore = { join: async () => {}, isAlive, leave: async () => {} };
  return {
    ...engine,
    info,
    limits,
    instances: sharing?.instances ?? soleInstance,
    ledger: createLedgerStore(context),
    answers: createAnswerStore(context),
    identifiers: createIdentifierStore(context),
    results: createResultStore(context),
    directory: createDirectoryStore(context),
    history: createHistoryStore(context),
    exports: createExportStore(context),
    changes: createChangeStore(context),
    ownership: createOwnershipStore(context, leases),
    leases,
    listing: createListingStore(context),
    snapshots: createSnapshotStore(context),
    statistics: createStatisticsStore(context),
    watches: createWatchStore(context),
    census: createCensusStore(context),
    exclusions: createExclusionStore(context),
    signingKeys: createSigningKeyStore(context),

    /** Database time, ms since the epoch, without a round trip. */
    now,

    /**
     * Publishes a scan: writes a history row, the directory record and a change. All rows are unique by the scan's
     * id. The call may therefore be repeated after a crash, also by several instances at once. The record of a host
     * shows the scan with the greatest `scannedAtMs`, even if scans are published in another order.
     * @param tally the counters that the scan raises if it is the first one of the host in this UTC day
     */
    publish: (scan: PublishedScan, tally?: Tally): Promise<void> =>
      publishScan(context, scan, tally),

    /**
     * Folds finished days of statistics, and removes rows whose retention is over at `nowMs` (database time). Works in
     * batches, so that other calls are served between them. Several instances may call it at once.
     */
    purge: (nowMs: number): Promise<PurgeReport> => purgeStore(context, sharing?.purge, nowMs),
  };
}

/** Counters in memory, for the only process of an embedded store. A restart resets them. */
function createMemoryLimits(now: () => number): LimitStore {
  const counters = new LRUCache<string, WindowCount>({ max: MAX_COUNTERS });
  return {
    async hit(key, windowMs) {
      const resetAtMs = (Math.floor(now() / windowMs) + 1) * windowMs;
      const counter = counters.get(key);
      const count = counter?.resetAtMs === resetAtMs ? counter.count + 1 : 1;
      counters.set(key, { count, resetAtMs });
      return { count, resetAtMs };
    },
  };
}
