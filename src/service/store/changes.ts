import { randomUUID } from 'node:crypto';
import type { Grade } from '../../scanner/model/report.ts';
import type { StoreContext, TablesContext } from './context.ts';
import { createHiddenCheck } from './exclusions.ts';
import { findOwnerState } from './owners.ts';
import { type PublishedScan, publishedScanFromJson } from './published-scan.ts';
import { StoreError } from './store-error.ts';
import { waitJitter } from './table.ts';
import type { Row } from './tables.ts';

/** Rows are numbered without gaps and never change. A reader therefore asks for the next number until no row has it. */
export class HostHistory {
  readonly host: string;
  readonly #history: StoreContext['tables']['history'];
  /** The number of the last row that was read; 0 before the first. */
  seq = 0;
  /** The smallest scan time of all rows up to `seq`. */
  firstSeenAtMs = Number.POSITIVE_INFINITY;
  /** The scan with the greatest time of all rows up to `seq`. */
  newestScan: PublishedScan | null = null;
  /** Like `newestScan`, among the scans that a payer ordered. */
  newestPaidScan: PublishedScan | null = null;
  /** True if the origin answered in at least one scan up to `seq`. */
  reached = false;

  private constructor(host: string, history: StoreContext['tables']['history']) {
    this.host = host;
    this.#history = history;
  }

  /** Starts at the host's record, which sums up the rows up to its scan count, and reads all later rows. */
  static async read(
    { tables: { history, records } }: TablesContext,
    host: string,
  ): Promise<HostHistory> {
    const reader = new HostHistory(host, history);
    const record = await records.get(host);
    if (record) {
      reader.seq = record.scanCount;
      reader.firstSeenAtMs = record.firstSeenAtMs;
      reader.newestScan = publishedScanFromJson(record.scan);
      const paidScan = record.paidBy === 'census' ? record.paidScan : record.scan;
      reader.newestPaidScan = paidScan === null ? null : publishedScanFromJson(paidScan);
      reader.reached = record.reached;
    }
    await reader.readNewRows();
    return reader;
  }

  /** Returns true if there were new rows. */
  async readNewRows(): Promise<boolean> {
    const before = this.seq;
    for (;;) {
      const next = await this.#history.get(this.host, this.seq + 1);
      if (!next) return this.seq > before;
      this.#add(next);
    }
  }

  #add({ seq, scannedAtMs, scan }: Row<'history'>): void {
    this.seq = seq;
    this.firstSeenAtMs = Math.min(this.firstSeenAtMs, scannedAtMs);
    // A row loses its scan after an hour, because the host's record includes that scan.
    if (scan === null) return;
    const added = publishedScanFromJson(scan);
    this.reached ||= added.reached !== false;
    if (!this.newestScan || isNewer(added, this.newestScan)) this.newestScan = added;
    if (added.paidBy === 'census') return;
    if (!this.newestPaidScan || isNewer(added, this.newestPaidScan)) this.newestPaidScan = added;
  }
}

/** Compares times, then ids, so that all instances agree on two scans of the same millisecond. */
function isNewer(a: PublishedScan, b: PublishedScan): boolean {
  if (a.scannedAtMs !== b.scannedAtMs) return a.scannedAtMs > b.scannedAtMs;
  return a.scanId > b.scanId;
}

type InternalMember = 'attempt' | 'hidden' | 'scannerVersion' | 'previousGrade' | 'previousScore';
export type DirectoryChange = Omit<Row<'changes'>, InternalMember> & {
  /** Set with `grade_changed` and `rules_changed`: the grade in the host's last change before this one. */
  readonly previousGrade?: Grade | undefined;
  readonly previousScore?: number | undefined;
};

export type ChangesQuery = {
  /** Exclusive; ms since the epoch. */
  readonly sinceMs: number;
  readonly limit: number;
};

/** More rows than wanted are read at a time, because some may belong to hosts that opted out. */
const MIN_BATCH_ROWS = 50;

/**
 * The feed of published changes, in order. A writer inserts number n+1 only after it has read number n. A reader that
 * pages by `changedAtMs` therefore misses no change and gets none twice. Changes are never purged.
 */
export function createChangeStore(context: StoreContext) {
  return {
    /** Lists changes after `sinceMs` (exclusive), oldest first, without hosts that are opted out now. */
    async list({ sinceMs, limit }: ChangesQuery) {
      let shownRows: readonly Row<'changes'>[] = [];
      for (let afterMs = sinceMs; ; ) {
        const batchSize = Math.max(MIN_BATCH_ROWS, limit + 1 - shownRows.length);
        const rows = await context.tables.changes.all(
          { changedAtMs: { after: afterMs }, hidden: false },
          { order: [['changedAtMs', 'asc']], limit: batchSize },
        );
        // Opt-outs are read after the rows of each batch, because an owner may have opted out meanwhile.
        const readRows = [...shownRows, ...rows];
        const isHidden = await createHiddenCheck(context, readRows);
        shownRows = readRows.filter((row) => !isHidden(row));
        afterMs = rows.at(-1)?.changedAtMs ?? afterMs;
        // A row beyond the limit shows that there are more.
        const hasMore = shownRows.length > limit;
        if (hasMore || rows.length < batchSize) {
          return { changes: shownRows.slice(0, limit).map(toChange), hasMore };
        }
      }
    },

    /** Takes the newest `limit` changes, newest first, and leaves out those of hosts that are opted out now. */
    async findNewest(limit: number): Promise<readonly DirectoryChange[]> {
      const rows = await context.tables.changes.all(
        { hidden: false },
        { order: [['changedAtMs', 'desc']], limit },
      );
      // Opt-outs are read after the rows, because an owner may have opted out meanwhile.
      const isHidden = await createHiddenCheck(context, rows);
      return rows.filter((row) => !isHidden(row)).map(toChange);
    },
  };
}

function toChange(row: Row<'changes'>): DirectoryChange {
  const { attempt, hidden, scannerVersion, previousGrade, previousScore, ...change } = row;
  if (previousGrade === null || previousScore === null) return change;
  return { ...change, previousGrade, previousScore };
}

const NEWEST_FIRST = { order: [['n', 'desc']] } as const;

type Announcement = {
  /** Unique: a second announcement with the same id adds nothing. */
  readonly scanId: string;
  /** True if an owner has listed the host again: readers may have removed it, so its change is `new`. */
  readonly isListing: boolean;
  /** If true, the change is hidden unless the host is new or its grade changed; default false. */
  readonly isQuiet?: boolean;
};

export function findLastChange({ tables }: StoreContext): Promise<Row<'changes'> | null> {
  return tables.changes.first({}, NEWEST_FIRST);
}

/** Adds a host to the feed after its owner has listed it again in row `n` of `owners`. */
export async function announceListing(
  context: StoreContext,
  host: string,
  n: number,
): Promise<void> {
  const history = await HostHistory.read(context, host);
  if (history.newestScan === null || !history.reached) return;
  await announce(context, history, { scanId: `listing ${n}`, isListing: true });
}

/** Queues the writers of one process, because writers that race for a number would only delay each other. */
export async function announce(
  context: StoreContext,
  history: HostHistory,
  announcement: Announcement,
): Promise<void> {
  await context.changeWriters.add(() => appendChange(context, history, announcement));
}

/**
 * Compares the grade with the host's last change in the feed, not with the host's history. Instances may publish scans
 * in any order, and the feed still never contradicts itself. A scan that is published late announces the current grade.
 */
async function appendChange(
  context: StoreContext,
  history: HostHistory,
  { scanId, isListing, isQuiet = false }: Announcement,
): Promise<void> {
  const { changes } = context.tables;
  const attempt = randomUUID();
  const { host } = history;
  for (;;) {
    const lastOfFeed = await findLastChange(context);
    const lastOfHost = await changes.first({ host }, NEWEST_FIRST);
    const lastShown = isListing ? null : await changes.first({ host, hidden: false }, NEWEST_FIRST);
    const { state } = await findOwnerState(context, host);
    // The history is read after `lastOfFeed`, so it holds every scan that the feed has announced. If this writer then
    // wins the next number, no other writer has announced a scan since `lastOfFeed` was read.
    await history.readNewRows();
    const newestScan = requireNewestScan(history);
    const { grade, score, checksVersion, scannerVersion = null } = newestScan;
    // Another catalog or program judges by other rules, so the grade says nothing new about the origin.
    const hasOldRules =
      lastOfHost?.checksVersion === checksVersion && lastOfHost.scannerVersion === scannerVersion;
    const hasNewRules = isQuiet && lastOfHost !== null && !hasOldRules;
    const row: Row<'changes'> = {
      n: (lastOfFeed?.n ?? 0) + 1,
      attempt,
      scanId,
      ...toChangeMembers(lastShown, grade, hasNewRules),
      changedAtMs: Math.max(context.now(), (lastOfFeed?.changedAtMs ?? 0) + 1),
      host,
      grade,
      score,
      checksVersion,
      scannerVersion,
      hidden: !history.reached || !state.listed || (isQuiet && lastShown?.grade === grade),
    };
    if ((await changes.insertContended(row)) === 'won') return;
    if (await changes.first({ scanId })) return;
    await waitJitter();
  }
}

/** @param last the host's last change that readers could see; null if they do not know the host, or removed it */
function toChangeMembers(last: Row<'changes'> | null, grade: Grade, hasNewRules: boolean) {
  const noPrevious = { previousGrade: null, previousScore: null };
  if (last === null) return { changeType: 'new', ...noPrevious } as const;
  if (last.grade === grade) return { changeType: 'rescanned', ...noPrevious } as const;
  const { grade: previousGrade, score: previousScore } = last;
  const changeType = hasNewRules ? 'rules_changed' : 'grade_changed';
  return { changeType, previousGrade, previousScore } as const;
}

export function requireNewestScan({ newestScan }: HostHistory): PublishedScan {
  if (newestScan) return newestScan;
  throw new StoreError('corrupt', 'a history lost its rows; restore the store from a backup');
}
