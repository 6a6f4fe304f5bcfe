import type { Grade } from '../../model/report.ts';
import type { DirectoryQuery } from '../contract/directory.ts';
import type { Owner } from '../contract/owner.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { RecordRow } from './rows.ts';
import type { Tables } from './tables.ts';

/** Lists of records, which each engine finds in its own way; opted-out hosts and those never reached are left out. */
export type RecordLists = {
  /** @param query `q` as hosts are spelt; empty: all */
  list(query: DirectoryQuery & { readonly q: string }): Promise<FoundRecords>;
  grades(): Promise<ReadonlyMap<Grade, number>>;
  featured(query: { readonly sinceMs: number; readonly limit: number }): Promise<FoundRecords>;
  /** Hosts by the time of their scan, newest first. */
  hostsByRecency(limit: number): Promise<readonly string[]>;
};

/** The part of a record row that lists are made of. */
export type ListedRow = Pick<RecordRow, 'host' | 'firstSeenAtMs' | 'scanCount' | 'scan'>;

export type FoundRecords = { readonly count: number; readonly records: readonly ListedRow[] };

/** What each part of a store works with. */
export type StoreContext = {
  readonly tables: Tables;
  readonly lists: RecordLists;
  readonly feed: ChangeFeed;
  readonly owner: Owner;
  /** Whether the writer of a row still lives. */
  readonly isAlive: (owner: Owner) => Promise<boolean>;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};
