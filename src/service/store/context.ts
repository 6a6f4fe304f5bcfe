import type PQueue from 'p-queue';
import type { PayableFilter } from '../../scanner/model/payability.ts';
import type { Grade } from '../../scanner/model/report.ts';
import type { InstanceId } from './payment-tables.ts';
import type { Tables } from './tables.ts';

export type DirectoryQuery = {
  /** `recent`: newest scan first. `grade`: best grade, then best score, then newest first. `new`: newest host first. */
  readonly sort: 'recent' | 'grade' | 'new';
  readonly category?: string | undefined;
  /** True: only hosts whose owner has a valid proof of control. */
  readonly verified?: boolean | undefined;
  /** Substring of the host, not a pattern; case is ignored. An empty text filters nothing. */
  readonly q?: string | undefined;
  readonly grade?: Grade | undefined;
  /** Only hosts that the census found payable. */
  readonly payable?: PayableFilter | undefined;
  /** Lower bound of the scan's time. */
  readonly sinceMs?: number | undefined;
  /** The first page is 0. */
  readonly page: number;
  readonly pageSize: number;
};

export type ListQuery = DirectoryQuery & {
  /** Substring of the host in lower case; empty matches every host. */
  readonly q: string;
};

/** Each engine has its own queries. All lists leave out hosts that are opted out or never answered a scan. */
export type RecordLists = {
  list(query: ListQuery): Promise<HostPage>;
  countByGrade(): Promise<ReadonlyMap<string, number>>;
  findNewestHosts(limit: number): Promise<readonly string[]>;
};

export type HostPage = {
  /** Number of matches on all pages. */
  readonly count: number;
  /** The hosts of this page, in order. */
  readonly hosts: readonly string[];
};

/** The parts of a store that depend on its engine. */
export type EngineContext = {
  readonly tables: Tables;
  readonly lists: RecordLists;
  /** This process, which becomes the `owner` of the rows that it writes. */
  readonly owner: InstanceId;
  /** Resolves to true while the process `owner` lives. */
  readonly isAlive: (owner: InstanceId) => Promise<boolean>;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};

/** The part of a context that rules over tables need if they make no lists and hold no leases. */
export type TablesContext = Pick<EngineContext, 'tables' | 'now'>;

export type StoreContext = EngineContext & {
  /** Runs the writers of changes one at a time. */
  readonly changeWriters: PQueue;
};

/** A paid answer is served again for this long after the last settlement that names it. */
export const ANSWER_LIFETIME_MS = 24 * 3_600_000;

const HOUR_MS = 3_600_000;

/** Retention of each kind of row. */
export const RETENTION_MS = {
  /** The steps of a ledger key, from its last step or the end of its authorization, whichever is later. */
  ledgerKey: 48 * HOUR_MS,
  /** The steps of a ledger key whose payment was never sent. Nothing was charged, and nothing is owed. */
  unsentKey: HOUR_MS,
  /** A stored answer, after the last settlement whose ledger key names it. */
  settledAnswer: ANSWER_LIFETIME_MS,
  /** An answer that no unfinished or settled key names. */
  unpaidAnswer: HOUR_MS,
  /** The marker of an unfinished claim, if its writer died before it wrote the claim. */
  abandonedMarker: HOUR_MS,
  identifierLinks: 48 * HOUR_MS,
  result: 24 * HOUR_MS,
  /** A report to which no answer refers. It outlives its result by an hour, because a sale may have just read it. */
  report: 25 * HOUR_MS,
  /** The recording of a scan. A payer whose call ended before they paid may still buy it. */
  recording: HOUR_MS,
  unpaidMark: 24 * HOUR_MS,
  /** A lease that counts a token, a failed confirm or a fetch against a limit. */
  ownershipLease: HOUR_MS,
  snapshot: 90 * 24 * HOUR_MS,
  silentInstance: HOUR_MS,
  /** A row with the settings and proof of a host's owner, after a newer row has replaced it. */
  replacedOwnerState: HOUR_MS,
  /** A version of a watch, after a later version has replaced it. */
  replacedWatch: HOUR_MS,
  /** The scan in a row of history. The record of its host includes it too. */
  historyScan: HOUR_MS,
  /** A UTC day accepts rows for this long after its end. No write takes longer, so the day then gets no further row. */
  lateRows: 5 * 60_000,
  /** A day accepts words of the census for this long after its end, because a rest may move looks over midnight. */
  lateWords: 30 * 60_000,
  /** The rows of a host that the operator has excluded from the census. */
  excludedHost: 30 * 24 * HOUR_MS,
  /** The sums of a block of days. The statistics cover 30 days. */
  daySum: 31 * 24 * HOUR_MS,
} as const;
