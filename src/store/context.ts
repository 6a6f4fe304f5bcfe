import type PQueue from 'p-queue';
import type { PayableFilter } from '../model/availability.ts';
import type { Grade } from '../model/report.ts';
import type { InstanceId } from './payment-tables.ts';
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
  /** Only hosts that the census found payable. */
  readonly payable?: PayableFilter | undefined;
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

/** Lists of records; each engine has its own queries for them. Opted-out and never reached hosts are left out. */
export type RecordLists = {
  list(query: ListQuery): Promise<HostPage>;
  countByGrade(): Promise<ReadonlyMap<Grade, number>>;
  /** Hosts by the time of their scan, newest first. */
  findNewestHosts(limit: number): Promise<readonly string[]>;
};

/** The hosts of one page in their order, and the number of all matches. */
export type HostPage = { readonly count: number; readonly hosts: readonly string[] };

/** The parts of a store that depend on its engine. */
export type EngineContext = {
  readonly tables: Tables;
  readonly lists: RecordLists;
  readonly owner: InstanceId;
  /** True while the writer of a row lives. */
  readonly isAlive: (owner: InstanceId) => Promise<boolean>;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};

export type StoreContext = EngineContext & {
  /** Runs the writers of changes one at a time. */
  readonly changeWriters: PQueue;
};

/** A paid answer is served again for this long after the last settlement that names it. */
export const ANSWER_LIFETIME_MS = 24 * 3_600_000;

const HOUR_MS = 3_600_000;

/** Retention of each kind of row; `purge` reads only these. */
export const RETENTION_MS = {
  /** The steps of a ledger key, after its last step and the end of its authorization. */
  ledgerKey: 48 * HOUR_MS,
  /** A ledger key whose payment was never sent, so nothing was charged and nothing is owed. */
  unsentKey: HOUR_MS,
  /** A stored answer, after the last settlement whose ledger key names it. */
  settledAnswer: ANSWER_LIFETIME_MS,
  /** An answer that no unfinished or settled key names. */
  unpaidAnswer: HOUR_MS,
  /** The marker of a claim whose writer died before it wrote the claim. */
  abandonedMarker: HOUR_MS,
  identifierChain: 48 * HOUR_MS,
  result: 24 * HOUR_MS,
  /** A report to which no answer refers. It outlives its result by an hour, because a sale may have just read it. */
  report: 25 * HOUR_MS,
  /** A recording, for a payer whose call ended before its answer was paid for. */
  recording: HOUR_MS,
  unpaidMark: 24 * HOUR_MS,
  /** A slot: it counts a token, a failed confirm or a fetch against a limit for this long. */
  slot: HOUR_MS,
  snapshot: 90 * 24 * HOUR_MS,
  silentInstance: HOUR_MS,
  /** An older row of a host's owner, once a newer one has replaced it. */
  replacedOwnerState: HOUR_MS,
  /** A version of a watch that a later one has replaced. */
  replacedWatch: HOUR_MS,
  /** The scan in a row of history, once the record of its host holds it too. */
  historyScan: HOUR_MS,
  /** A day accepts rows for this long after its end: longer than any write that began before the end. */
  lateRows: 5 * 60_000,
  /** The sums of a block of days; statistics reach 30 days back. */
  daySum: 31 * 24 * HOUR_MS,
} as const;
