import { randomUUID } from 'node:crypto';
import type { Grade } from '../model/report.ts';
import type { StoreContext } from './context.ts';
import { StoreError } from './errors.ts';
import { findOptedOutHosts, findOwnerState } from './owners.ts';
import { type PublishedScan, publishedScanFromJson } from './published-scan.ts';
import { waitJitter } from './table.ts';
import type { ChangeType, Row } from './tables.ts';

/**
 * The history of one host as far as this reader has followed it. Rows are numbered without gaps and
 * never change, so following means asking for the next number until it is not there.
 */
export class HostHistory {
  readonly host: string;
  readonly #history: StoreContext['tables']['history'];
  /** The number of the last row that was followed; 0 before the first. */
  seq = 0;
  /** The smallest scan time of all rows up to `seq`. */
  firstSeenAtMs = Number.POSITIVE_INFINITY;
  /** The scan with the greatest time of all rows up to `seq`. */
  newest: PublishedScan | null = null;
  /** True when some scan up to `seq` had an answer of the origin. */
  reached = false;

  private constructor(host: string, history: StoreContext['tables']['history']) {
    this.host = host;
    this.#history = history;
  }

  /** Starts from the host's record, which sums up all rows to its scan count, and catches up. */
  static async follow(
    { tables: { history, records } }: Pick<StoreContext, 'tables'>,
    host: string,
  ): Promise<HostHistory> {
    const follower = new HostHistory(host, history);
    const record = await records.get(host);
    if (record) {
      follower.seq = record.scanCount;
      follower.firstSeenAtMs = record.firstSeenAtMs;
      follower.newest = publishedScanFromJson(record.scan);
      follower.reached = record.reached;
    }
    await follower.catchUp();
    return follower;
  }

  /** True if there were rows that had not been followed. */
  async catchUp(): Promise<boolean> {
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
    // The scan was dropped from the row because the record has included it for an hour or more.
    if (scan === null) return;
    const added = publishedScanFromJson(scan);
    this.reached ||= added.reached !== false;
    if (!this.newest || isNewer(added, this.newest)) this.newest = added;
  }
}

/** Compares times, then ids, so that all instances agree on two scans of the same millisecond. */
function isNewer(a: PublishedScan, b: PublishedScan): boolean {
  if (a.scannedAtMs !== b.scannedAtMs) return a.scannedAtMs > b.scannedAtMs;
  return a.scanId > b.scanId;
}

export type DirectoryChange = {
  /** 1, 2, 3 … without gaps; never sent out. */
  readonly n: number;
  /** The scan whose publication made it; unique, so a publication that is redone adds none. */
  readonly scanId: string;
  readonly changeType: ChangeType;
  /** Database time, ms; strictly increasing with `n`. */
  readonly changedAtMs: number;
  readonly host: string;
  /** The grade of the host's current record after this change. */
  readonly grade: Grade;
  readonly score: number;
  readonly checksVersion: string;
  /** Set with `grade_changed`: the grade that this feed gave the host before. */
  readonly previousGrade?: Grade | undefined;
  readonly previousScore?: number | undefined;
};

export type ChangesQuery = {
  /** Exclusive; ms since the epoch. */
  readonly sinceMs: number;
  readonly limit: number;
};
type FoundChanges = { readonly changes: readonly DirectoryChange[]; readonly hasMore: boolean };

/** At least this many rows are read at a time, because some may belong to hosts that opted out. */
const MIN_BATCH = 50;

/**
 * Publications, in order. Number n+1 is inserted after n was read, so a reader who has seen
 * n+1 has seen n, and paging by `changedAtMs` loses and repeats nothing. Kept for good.
 */
export function changesOn(context: StoreContext) {
  return {
    /**
     * Changes after `sinceMs` (exclusive), oldest first, at most `limit`; those of hosts that are
     * opted out now are left out.
     */
    async list({ sinceMs, limit }: ChangesQuery): Promise<FoundChanges> {
      const visible: Row<'changes'>[] = [];
      // Opt-outs are read again after the rows, because an owner may have opted out meanwhile.
      for (let after = sinceMs; ; ) {
        const wanted = Math.max(MIN_BATCH, limit + 1 - visible.length);
        const rows = await context.tables.changes.all(
          { changedAtMs: { after }, hidden: { not: true } },
          { order: [['changedAtMs', 'asc']], limit: wanted },
        );
        const optedOut = new Set(await findOptedOutHosts(context));
        visible.push(...rows.filter((row) => !optedOut.has(row.host)));
        after = rows.at(-1)?.changedAtMs ?? after;
        // A row beyond the limit shows that there are more.
        if (rows.length < wanted || visible.length > limit) {
          const listed = visible.filter((row) => !optedOut.has(row.host));
          return { changes: listed.slice(0, limit).map(toChange), hasMore: visible.length > limit };
        }
      }
    },

    /** Returns at most `limit` changes, newest first; those of hosts that are opted out now are left out of them. */
    async findNewest(limit: number): Promise<readonly DirectoryChange[]> {
      const rows = await context.tables.changes.all(
        { hidden: { not: true } },
        { order: [['changedAtMs', 'desc']], limit },
      );
      // Opt-outs are read after the rows, because an owner may have opted out meanwhile.
      const optedOut = new Set(await findOptedOutHosts(context));
      return rows.filter((row) => !optedOut.has(row.host)).map(toChange);
    },
  };
}

function toChange(row: Row<'changes'>): DirectoryChange {
  const { n, scanId, changeType, changedAtMs, host, grade, score, checksVersion } = row;
  const change = { n, scanId, changeType, changedAtMs, host, grade, score, checksVersion };
  const { previousGrade, previousScore } = row;
  if (previousGrade === null || previousScore === null) return change;
  return { ...change, previousGrade, previousScore };
}

const NEWEST_FIRST = { order: [['n', 'desc']] } as const;

type Announcement = {
  /** Unique: announcing the same again adds nothing. */
  readonly scanId: string;
  /** True when the host is new to the feed's readers, or they may have dropped it. */
  readonly isListing: boolean;
  /** True when readers see the change only if the host is new or its grade moved; default false. */
  readonly isQuiet?: boolean;
};

/** Finds the last change of the feed; null while it is empty. */
export function findLastChange({
  tables,
}: Pick<StoreContext, 'tables'>): Promise<Row<'changes'> | null> {
  return tables.changes.first({}, NEWEST_FIRST);
}

/** Adds a host to the feed that its owner has listed again, by the owner row of this number. */
export async function announceListing(
  context: StoreContext,
  host: string,
  n: number,
): Promise<void> {
  const history = await HostHistory.follow(context, host);
  if (history.newest === null || !history.reached) return;
  await announce(context, history, { scanId: `listing ${n}`, isListing: true });
}

/** Queues the writers of one process, because racing they would only lose numbers to each other. */
export async function announce(
  context: StoreContext,
  history: HostHistory,
  announcement: Announcement,
): Promise<void> {
  await context.changeWriters.add(() => appendChange(context, history, announcement));
}

/**
 * A change is compared with the feed's last entry of its host, not with the history. The feed thus never contradicts
 * itself, in whatever order instances publish, and a scan that is published late announces the current grade.
 */
async function appendChange(
  context: StoreContext,
  history: HostHistory,
  { scanId, isListing, isQuiet = false }: Announcement,
): Promise<void> {
  const { changes } = context.tables;
  const attempt = randomUUID();
  for (;;) {
    const tail = await findLastChange(context);
    const entries = { host: history.host, hidden: false };
    const lastTold = isListing ? null : await changes.first(entries, NEWEST_FIRST);
    const { state } = await findOwnerState(context, history.host);
    // The history is read after the tail, so it holds every scan that the feed has announced. Winning
    // the number after the tail then proves that nothing was announced in between.
    await history.catchUp();
    const { host, grade, score, checksVersion } = requireNewest(history);
    const row: Row<'changes'> = {
      n: (tail?.n ?? 0) + 1,
      attempt,
      scanId,
      ...moveSince(lastTold, grade),
      changedAtMs: Math.max(context.now(), (tail?.changedAtMs ?? 0) + 1),
      host,
      grade,
      score,
      checksVersion,
      hidden: !history.reached || !state.listed || (isQuiet && lastTold?.grade === grade),
    };
    if ((await changes.insertContended(row)) === 'won') return;
    if (await changes.first({ scanId })) return;
    await waitJitter();
  }
}

/** @param last the feed's last entry of the host; null if the host is new to it */
function moveSince(last: Row<'changes'> | null, grade: Grade) {
  const none = { previousGrade: null, previousScore: null };
  if (last === null) return { changeType: 'new', ...none } as const;
  if (last.grade === grade) return { changeType: 'rescanned', ...none } as const;
  return {
    changeType: 'grade_changed',
    previousGrade: last.grade,
    previousScore: last.score,
  } as const;
}

export function requireNewest({ newest }: HostHistory): PublishedScan {
  if (newest) return newest;
  throw new StoreError('corrupt', 'a history lost its rows; restore the store from a backup');
}
