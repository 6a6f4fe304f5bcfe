import type PQueue from 'p-queue';
import type { Grade } from '../../model/report.ts';
import type { DirectoryQuery } from '../contract/directory.ts';
import type { Owner } from '../contract/owner.ts';
import type { Tables } from './tables.ts';

/** Lists of records, which each engine finds in its own way; opted-out hosts and those never reached are left out. */
export type RecordLists = {
  /** @param query `q` as hosts are spelt; empty: all */
  list(query: DirectoryQuery & { readonly q: string }): Promise<FoundHosts>;
  grades(): Promise<ReadonlyMap<Grade, number>>;
  featured(query: { readonly sinceMs: number; readonly limit: number }): Promise<FoundHosts>;
  /** Hosts by the time of their scan, newest first. */
  hostsByRecency(limit: number): Promise<readonly string[]>;
};

/** The hosts of one page in their order, and the number of all matches. */
export type FoundHosts = { readonly count: number; readonly hosts: readonly string[] };

/** What an engine gives to the rules over its tables. */
export type EngineContext = {
  readonly tables: Tables;
  readonly lists: RecordLists;
  readonly owner: Owner;
  /** Whether the writer of a row still lives. */
  readonly isAlive: (owner: Owner) => Promise<boolean>;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};

export type StoreContext = EngineContext & {
  /** Writers of changes, one at a time. */
  readonly announcing: PQueue;
};
