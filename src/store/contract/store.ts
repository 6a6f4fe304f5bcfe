import type { AnswerStore } from './answers.ts';
import type { ChangeStore } from './changes.ts';
import type { DirectoryStore } from './directory.ts';
import type { ExportStore, HistoryStore } from './history.ts';
import type { IdentifierStore } from './identifiers.ts';
import type { InstanceStore } from './instances.ts';
import type { LeaseStore } from './leases.ts';
import type { LedgerStore } from './ledger.ts';
import type { LimitStore } from './limits.ts';
import type { ListingStore } from './listing.ts';
import type { Owner } from './owner.ts';
import type { OwnershipStore } from './ownership.ts';
import type { PublishedScan } from './published-scan.ts';
import type { ScanResultStore } from './results.ts';
import type { SigningKeyStore } from './signing-keys.ts';
import type { SlotStore } from './slots.ts';
import type { SnapshotStore } from './snapshots.ts';
import type { StatisticsStore, Tally } from './statistics.ts';
import type { WatchStore } from './watches.ts';

export type StoreInfo = {
  readonly kind: 'sqlite' | 'mongodb';
  /** For logs and `/health`: the path, or the servers and database, without credentials. */
  readonly location: string;
  /** True: several instances may live on it. */
  readonly shared: boolean;
  /** Written into every row that this process owns. */
  readonly owner: Owner;
};

/** Numbers of removed rows by kind; of answers, the number of answers. */
export type PurgeReport = {
  readonly ledgerKeys: number;
  readonly answers: number;
  readonly results: number;
  readonly other: number;
};

/**
 * The service's whole persistent state. Both implementations pass one contract suite.
 *
 * Every race between instances or requests is decided by one insert under a unique key, never by a read
 * followed by an update. Every method rejects with `StoreError` only. Times are database time in ms.
 */
export type Store = {
  readonly info: StoreInfo;
  readonly ledger: LedgerStore;
  readonly answers: AnswerStore;
  readonly identifiers: IdentifierStore;
  readonly results: ScanResultStore;
  readonly directory: DirectoryStore;
  readonly history: HistoryStore;
  readonly exports: ExportStore;
  readonly changes: ChangeStore;
  readonly ownership: OwnershipStore;
  readonly listing: ListingStore;
  readonly leases: LeaseStore;
  readonly slots: SlotStore;
  readonly limits: LimitStore;
  readonly snapshots: SnapshotStore;
  readonly statistics: StatisticsStore;
  readonly watches: WatchStore;
  readonly instances: InstanceStore;
  readonly signingKeys: SigningKeyStore;

  /**
   * Publishes a scan: history row, directory record, change. Everything in it is keyed by the scan's
   * id, so it may be run again after a crash, and by several instances at once. The current record is the
   * scan with the greatest `scannedAtMs`, in whatever order scans are published.
   * @param tally what the scan adds to the statistics, if it is the first of a listed host in this UTC day
   */
  publish(scan: PublishedScan, tally?: Tally): Promise<void>;

  /** Database time, ms since the epoch, without a round trip. */
  now(): number;

  /** Resolves while the database answers; `unavailable` otherwise, within a few seconds. */
  ping(): Promise<void>;

  /**
   * Folds finished days of statistics, and removes rows whose retention is over at `nowMs` (database time).
   * Works in batches, so that other calls are served between them. Safe at any time, also from several
   * instances at once.
   */
  purge(nowMs: number): Promise<PurgeReport>;

  /** Leaves, waits for writes in progress, releases the lock. May be called twice. */
  close(): Promise<void>;
};
