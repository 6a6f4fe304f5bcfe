import type { Availability } from '../../scanner/model/payability.ts';
import type { Grade } from '../../scanner/model/report.ts';
import { toAvailability } from './census.ts';
import { findLastChange } from './changes.ts';
import type { DirectoryQuery, StoreContext } from './context.ts';
import {
  findExclusionsVersion,
  findShownRecord,
  selectShownHistory,
  toShownRecords,
} from './exclusions.ts';
import { findLastOwnerChangeNumber, findOwnerStates, toVerifiedSinceMs } from './owners.ts';
import { type PublishedScan, publishedScanFromJson } from './published-scan.ts';
import { orderByScan } from './table.ts';
import type { Row } from './tables.ts';

/** The current scan of one host, and its owner's settings at the time of reading. */
export type DirectoryRecord = PublishedScan & {
  readonly firstSeenAtMs: number;
  /** Number of all published scans of this host, including those whose history rows were removed. */
  readonly scanCount: number;
  /** True if the host's owner has a valid proof of control. */
  readonly verified: boolean;
  /** False: the owner has opted out, and no list may show the host. */
  readonly listed: boolean;
  /** The words of the last 30 days; null if the census never looked at the host. */
  readonly availability: Availability | null;
  /** True: pages must not show the name, description and icon of the origin. */
  readonly enrichmentSuppressed: boolean;
};

/** The part of a record that the route `status` needs. */
export type HostGrade = Pick<PublishedScan, 'scannedAtMs' | 'grade' | 'score' | 'counts'>;

/** A cache reads both versions before the rows of a list. Its answer is valid while neither version has changed. */
export type DirectoryVersions = {
  /** Changes with each published scan, before `publish` returns. */
  readonly published: string;
  /** Changes when an owner changes a setting or proves control, before the owner's call returns, and with exclusions. */
  readonly preferences: string;
};

/** The characters of canonical hosts with ports. */
const HOST_CHARACTERS = /^[a-z0-9._:[\]-]*$/;

/** The public directory. Opted-out hosts are in no list and no count. */
export type DirectoryStore = ReturnType<typeof createDirectoryStore>;

export function createDirectoryStore(context: StoreContext) {
  const { lists } = context;
  return {
    /** Finds the record of a host, even if its owner has opted out; null if no scan of it was published. */
    async get(host: string): Promise<DirectoryRecord | null> {
      const record = await findShownRecord(context, host);
      return record && ((await addOwnerStates(context, [record]))[0] ?? null);
    },

    /** Finds the grade of a host, even if its owner has opted out; null if no scan of it was published. */
    async findGrade(host: string): Promise<HostGrade | null> {
      const record = await findShownRecord(context, host);
      return record && publishedScanFromJson(record.scan);
    },

    /** Costs three look-ups by primary key. The result includes the writes of all instances. */
    async readVersions(): Promise<DirectoryVersions> {
      const [last, ownerChange, exclusions] = await Promise.all([
        findLastChange(context),
        findLastOwnerChangeNumber(context),
        findExclusionsVersion(context),
      ]);
      const preferences = `${ownerChange}${exclusions}`;
      return { published: String(last?.n ?? 0), preferences };
    },

    async list(query: DirectoryQuery) {
      const q = toHostSubstring(query.q ?? '');
      if (q === null) return { count: 0, records: [] };
      const { count, hosts } = await lists.list({ ...query, q });
      return { count, records: await readListed(context, hosts) };
    },

    async countByGrade(): Promise<Readonly<Record<Grade, number>>> {
      const counts = await lists.countByGrade();
      const count = (grade: Grade) => counts.get(grade) ?? 0;
      return { A: count('A'), B: count('B'), C: count('C'), D: count('D'), F: count('F') };
    },
  };
}

/** Reads the records of these hosts in the given order. Leaves out hosts that are opted out by now. */
async function readListed(
  context: StoreContext,
  hosts: readonly string[],
): Promise<readonly DirectoryRecord[]> {
  const rows = await context.tables.records.all({ host: { in: hosts } });
  const byHost = new Map(rows.map((row) => [row.host, row]));
  const inOrder = hosts.map((host) => byHost.get(host)).filter((row) => row !== undefined);
  const listable = await toShownRecords(context, inOrder);
  return (await addOwnerStates(context, listable)).filter((record) => record.listed);
}

/** Returns the substring in lower case; null if no host can contain it. */
function toHostSubstring(q: string): string | null {
  const lower = q.toLowerCase();
  return HOST_CHARACTERS.test(lower) ? lower : null;
}

async function addOwnerStates(
  context: StoreContext,
  records: readonly Row<'records'>[],
): Promise<readonly DirectoryRecord[]> {
  const nowMs = context.now();
  const sinceProofMs = toVerifiedSinceMs(nowMs);
  const stateOf = await findOwnerStates(context, records);
  return records.map(({ host, scan, firstSeenAtMs, scanCount, dayWords }) => {
    const { listed, enrichmentSuppressed, confirmedAtMs } = stateOf(host);
    return {
      ...publishedScanFromJson(scan),
      firstSeenAtMs,
      scanCount,
      verified: confirmedAtMs !== null && confirmedAtMs > sinceProofMs,
      listed,
      enrichmentSuppressed,
      availability: toAvailability(dayWords, nowMs),
    };
  });
}

export const HISTORY_ROWS_PER_HOST = 400;

export type HistoryRow = Pick<
  PublishedScan,
  'scanId' | 'grade' | 'score' | 'scannedAtMs' | 'checksVersion' | 'payableBy'
> & {
  /** Only in rows of the census. */
  readonly paidBy?: 'census' | undefined;
  /** Absent in rows of older releases. */
  readonly scannerVersion?: string | undefined;
};

/** A record and the history of its host, oldest scan first. */
export type ExportRecord = DirectoryRecord & { readonly history: readonly HistoryRow[] };

/** The histories of this many hosts are read at once; each has up to 400 rows. */
const HOSTS_PER_BATCH = 25;

export function createHistoryStore(context: StoreContext) {
  return {
    /** Lists the newest `limit` rows (default and maximum 400), the oldest of them first. */
    async list(host: string, limit = HISTORY_ROWS_PER_HOST): Promise<readonly HistoryRow[]> {
      const range = { order: orderByScan('desc'), limit: Math.min(limit, HISTORY_ROWS_PER_HOST) };
      const rows = await context.tables.history.all({ host }, range);
      const shownRows = await selectShownHistory(context, rows);
      return shownRows.map(toHistoryRow).reverse();
    },
  };
}

/** Reads a consistent snapshot of the directory, without opted-out hosts. */
export function createExportStore(context: StoreContext) {
  return {
    /**
     * Takes at most `limit` records, the newest scan first. `truncated` says whether there are more. `records` can be
     * iterated once. It reads histories in batches, and leaves out scans that were published after the snapshot.
     */
    async takeSnapshot(limit: number) {
      const hosts = await context.lists.findNewestHosts(limit + 1);
      // All records are read before streaming begins, so that the snapshot is of one moment.
      const records = await readListed(context, hosts.slice(0, limit));
      return {
        count: records.length,
        truncated: hosts.length > limit,
        exportedAtMs: context.now(),
        records: readHistories(context, records),
      };
    },
  };
}

async function* readHistories(
  context: StoreContext,
  records: readonly DirectoryRecord[],
): AsyncGenerator<ExportRecord> {
  for (let start = 0; start < records.length; start += HOSTS_PER_BATCH) {
    const batch = records.slice(start, start + HOSTS_PER_BATCH);
    const host = { in: batch.map((record) => record.host) };
    const rows = await context.tables.history.all({ host }, { order: orderByScan('asc') });
    const shownRows = await selectShownHistory(context, rows);
    const byHost = Map.groupBy(shownRows, (row) => row.host);
    for (const record of batch) {
      const rowsOfHost = byHost.get(record.host) ?? [];
      // `scanCount` is the number of the last row in the snapshot.
      const rowsOfSnapshot = rowsOfHost.filter(({ seq }) => seq <= record.scanCount);
      yield { ...record, history: rowsOfSnapshot.slice(-HISTORY_ROWS_PER_HOST).map(toHistoryRow) };
    }
  }
}

function toHistoryRow(row: Row<'history'>): HistoryRow {
  const { host, seq, attempt, scan, paidBy, scannerVersion, ...verdict } = row;
  return {
    ...verdict,
    ...(paidBy === 'census' && { paidBy }),
    ...(scannerVersion && { scannerVersion }),
  };
}
