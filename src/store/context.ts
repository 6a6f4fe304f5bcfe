import type PQueue from 'p-queue';
import type { Grade } from '../model/report.ts';
import type { Owner } from './payment-tables.ts';
import type { Tables } from './tables.ts';

export type DirectoryQuery = {
  /** `recent`: newest scan first. `grade`: best grade, then best score, then newest first. */
  readonly sort: 'recent' | 'grade';
  readonly category?: string | undefined;
  /** True: hosts of verified owners only. */
  readonly verified?: boolean | undefined;
  /** Literal substring of the host; case is ignored, no character is special. Empty: no filter. */
  readonly q?: string | undefined;
  readonly grade?: Grade | undefined;
  /** Lower bound of the scan's time. */
  readonly sinceMs?: number | undefined;
  /** From 0. */
  readonly page: number;
  readonly pageSize: number;
};

export type ListQuery = DirectoryQuery & {
  /** Substring of the host in lower case; empty matches every host. */
  readonly q: string;
};

/** Lists of records, by queries of the engine's own. Opted-out and never reached hosts are left out. */
export type RecordLists = {
  list(query: ListQuery): Promise<FoundHosts>;
  grades(): Promise<ReadonlyMap<Grade, number>>;
  /** Hosts by the time of their scan, newest first. */
  hostsByRecency(limit: number): Promise<readonly string[]>;
};

/** The hosts of one page in their order, and the number of all matches. */
export type FoundHosts = { readonly count: number; readonly hosts: readonly string[] };

/** The parts of a store that depend on its engine. */
export type EngineContext = {
  readonly tables: Tables;
  readonly lists: RecordLists;
  readonly owner: Owner;
  /** True while the writer of a row lives. */
  readonly isAlive: (owner: Owner) => Promise<boolean>;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};

export type StoreContext = EngineContext & {
  /** Runs the writers of changes one at a time. */
  readonly announcing: PQueue;
};
