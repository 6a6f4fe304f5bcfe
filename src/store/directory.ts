import type { Availability } from '../model/availability.ts';
import type { PayableState } from '../model/payability.ts';
import type { Grade } from '../model/report.ts';
import { toAvailability } from './census.ts';
import { findLastChange } from './changes.ts';
import type { DirectoryQuery, StoreContext } from './context.ts';
import { findLastOwnerNumber, findOwnerStates, toVerifiedUntilMs } from './owners.ts';
import { type PublishedScan, publishedScanFromJson } from './published-scan.ts';
import { orderByScan } from './table.ts';
import type { Row } from './tables.ts';

/** One host: its current scan, with the owner's preferences as they are at the time of reading. */
export type DirectoryRecord = PublishedScan & {
  readonly firstSeenAtMs: number;
  /** Published scans of this host ever, also those whose history rows were dropped. */
  readonly scanCount: number;
  /** An owner has proved control of the host at least once. */
  readonly verified: boolean;
  /** The proof expires at this ms; null if the host has no valid proof. */
  readonly verifiedUntilMs: number | null;
  /** False: opted out; must not appear on any listing surface. */
  readonly listed: boolean;
  /** Days of the host in the census; null if the census never looked at it. */
  readonly availability: Availability | null;
  /** True: branding must not be shown. */
  readonly enrichmentSuppressed: boolean;
};

/** The part of a record that a status needs. */
export type HostGrade = Pick<PublishedScan, 'scannedAtMs' | 'grade' | 'score' | 'counts'>;

/**
 * Versions of the rows from which lists of hosts are built. A cached answer is valid while both versions
 * equal those that were read before its rows.
 */
export type DirectoryVersions = {
  /** Changes with each publication, at the latest when `publish` has returned. */
  readonly published: string;
  /** Changes whenever an owner sets or proves something, at the latest when that call has returned. */
  readonly preferences: string;
};

/** Canonical hosts, with their ports, are made of these. */
const HOST_CHARACTERS = /^[a-z0-9._:[\]-]*$/;

/** The public directory. Opted-out hosts are in no list and no count. */
export type DirectoryStore = ReturnType<typeof directoryOn>;

export function directoryOn(context: StoreContext) {
  const { tables, lists } = context;
  return {
    /** The record of a host, opted out or not (see `listed`); null if never published. */
    async get(host: string): Promise<DirectoryRecord | null> {
      const record = await tables.records.get(host);
      return record && ((await withOwners(context, [record]))[0] ?? null);
    },

    /** The grade of a host's current scan, opted out or not; null if never published. */
    async findGrade(host: string): Promise<HostGrade | null> {
      const record = await tables.records.get(host);
      return record && publishedScanFromJson(record.scan);
    },

    /** Costs two look-ups by primary key; sees the writes of all instances. */
    async readVersions(): Promise<DirectoryVersions> {
      const [last, preferences] = await Promise.all([
        findLastChange(context),
        findLastOwnerNumber(context),
      ]);
      return { published: String(last?.n ?? 0), preferences: String(preferences) };
    },

    /** One page, and the number of all matches. */
    async list(query: DirectoryQuery): Promise<{
      readonly count: number;
      readonly records: readonly DirectoryRecord[];
    }> {
      const q = toHostSubstring(query.q ?? '');
      if (q === null) return { count: 0, records: [] };
      const { count, hosts } = await lists.list({ ...query, q });
      return { count, records: await readListed(context, hosts) };
    },

    /** Number of listed hosts of each grade. */
    async countByGrade(): Promise<Readonly<Record<Grade, number>>> {
      const counted = await lists.countByGrade();
      const count = (grade: Grade) => counted.get(grade) ?? 0;
      return { A: count('A'), B: count('B'), C: count('C'), D: count('D'), F: count('F') };
    },
  };
}

/** Reads the records of these hosts in their order, without those whose owner has opted out since the hosts were read. */
export async function readListed(
  context: StoreContext,
  hosts: readonly string[],
): Promise<readonly DirectoryRecord[]> {
  const rows = await context.tables.records.all({ host: { in: hosts } });
  const byHost = new Map(rows.map((row) => [row.host, row]));
  const inOrder = hosts.map((host) => byHost.get(host)).filter((row) => row !== undefined);
  return (await withOwners(context, inOrder)).filter((record) => record.listed);
}

/** Returns the substring in lower case; null when no host can contain it. The empty text matches every host. */
function toHostSubstring(q: string): string | null {
  const lower = q.toLowerCase();
  return HOST_CHARACTERS.test(lower) ? lower : null;
}

/** Records with the state of their owners. */
async function withOwners(
  context: StoreContext,
  records: readonly Row<'records'>[],
): Promise<readonly DirectoryRecord[]> {
  const nowMs = context.now();
  const hosts = records.map((record) => record.host);
  const stateOf = await findOwnerStates(context, hosts);
  return records.map(({ host, scan, firstSeenAtMs, scanCount, dayWords }) => {
    const { listed: isListed, enrichmentSuppressed, confirmedAtMs } = stateOf(host);
    const untilMs = toVerifiedUntilMs(confirmedAtMs, nowMs);
    return {
      ...publishedScanFromJson(scan),
      firstSeenAtMs,
      scanCount,
      verified: untilMs !== null,
      verifiedUntilMs: untilMs,
      listed: isListed,
      enrichmentSuppressed,
      availability: toAvailability(dayWords, nowMs),
    };
  });
}

/** Rows of history that are kept of a host. */
export const HISTORY_ROWS_PER_HOST = 400;

export type HistoryRow = Pick<
  PublishedScan,
  'scanId' | 'grade' | 'score' | 'scannedAtMs' | 'checksVersion'
> & {
  /** Absent in rows that an older release wrote. */
  readonly payableBy?: PayableState | undefined;
};

/** A record and all its history, oldest first. */
export type ExportRecord = DirectoryRecord & {
  readonly history: readonly HistoryRow[];
};

/** Hosts whose history is read together: up to 400 rows each. */
const HISTORY_BATCH = 25;

/** Published scans of a host, the newest 400 of them. */
export function historyOn({ tables }: StoreContext) {
  return {
    /** Oldest first; the newest `limit` rows (default and maximum 400). */
    async list(
      host: string,
      limit: number = HISTORY_ROWS_PER_HOST,
    ): Promise<readonly HistoryRow[]> {
      const newest = { order: orderByScan('desc'), limit: Math.min(limit, HISTORY_ROWS_PER_HOST) };
      const rows = await tables.history.all({ host }, newest);
      return rows.map(toHistoryRow).reverse();
    },
  };
}

/** Reads a consistent snapshot of the directory, without opted-out hosts. */
export function exportsOn(context: StoreContext) {
  return {
    /**
     * Newest scan first, at most `limit` records; `truncated` if there are more. `records` can be iterated once, and is read in
     * batches; later publications are left out.
     */
    async takeSnapshot(limit: number) {
      const hosts = await context.lists.findNewestHosts(limit + 1);
      // All records are read before streaming begins, so that the snapshot is of one moment.
      const records = await readListed(context, hosts.slice(0, limit));
      return {
        count: records.length,
        truncated: hosts.length > limit,
        exportedAtMs: context.now(),
        records: withHistory(context, records),
      };
    },
  };
}

async function* withHistory(
  { tables }: StoreContext,
  records: readonly DirectoryRecord[],
): AsyncGenerator<ExportRecord> {
  for (let at = 0; at < records.length; at += HISTORY_BATCH) {
    const batch = records.slice(at, at + HISTORY_BATCH);
    const host = { in: batch.map((record) => record.host) };
    const rows = await tables.history.all({ host }, { order: orderByScan('asc') });
    const byHost = Map.groupBy(rows, (row) => row.host);
    for (const record of batch) {
      // Rows that were added after the snapshot have greater numbers.
      const upToThen = (byHost.get(record.host) ?? []).filter(({ seq }) => seq <= record.scanCount);
      yield { ...record, history: upToThen.slice(-HISTORY_ROWS_PER_HOST).map(toHistoryRow) };
    }
  }
}

function toHistoryRow(row: Row<'history'>): HistoryRow {
  const { scanId, grade, score, scannedAtMs, checksVersion, payableBy } = row;
  return { scanId, grade, score, scannedAtMs, checksVersion, ...(payableBy && { payableBy }) };
}
