/** The directory on SQLite. */
import type { DirectoryRecord, DirectoryStore } from '../contract/directory.ts';
import type { PublishedScan } from '../contract/published-scan.ts';
import { countsOf } from '../rules/grade-counts.ts';
import { hostSubstring } from '../rules/host-ngrams.ts';
import { publishedScanFromJson } from '../rules/published-scan.ts';
import type { SqliteContext } from './context.ts';
import { findListed } from './listed-search.ts';
import { RECORD_COLUMNS, toDirectoryRecord } from './record-sql.ts';
import type { Row } from './row.ts';
import { readVersions } from './versions.ts';

/** Some 2 KiB each, as text and as an object. */
const MAX_REMEMBERED = 1_000;
const RECORD_OF_HOST = `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.host = ?`;

export function sqliteDirectory(context: SqliteContext): DirectoryStore {
  const { connection, now, recordRows } = context;
  const parse = rememberingParser();
  const read = (row: Row) => toDirectoryRecord(row, now(), parse);

  /** In the order of their ids here; an owner may have opted out since these were found. */
  function recordsOf(ids: readonly number[]): readonly DirectoryRecord[] {
    const rows = connection.all(
      `SELECT r.id, ${RECORD_COLUMNS} FROM records r
       WHERE r.id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(ids),
    );
    const found = new Map(rows.map((row) => [row.integer('id'), row]));
    return ids
      .map((id) => found.get(id))
      .filter((row) => row !== undefined)
      .map(read)
      .filter((record) => record.listed);
  }

  return {
    async versions() {
      return readVersions(context);
    },

    async get(host) {
      // A closed store answers nothing, whatever is in memory.
      const kept = connection.isOpen ? recordRows.get(host) : undefined;
      if (kept !== undefined) return read(kept);
      const row = connection.get(RECORD_OF_HOST, host);
      if (row === null) return null;
      recordRows.keep(host, row);
      return read(row);
    },

    async list(query) {
      const q = hostSubstring(query.q ?? '');
      if (q === null) return { count: 0, records: [] };
      const { page, pageSize } = query;
      const range = { offset: page * pageSize, size: pageSize };
      const { count, ids } = await findListed(context, query, q, range);
      return { count, records: recordsOf(ids) };
    },

    async grades() {
      const rows = connection.all(
        'SELECT grade, sum(n) AS count FROM listed_counts GROUP BY grade',
      );
      const counts = new Map(rows.map((row) => [row.text('grade'), row.integer('count')]));
      return countsOf((grade) => counts.get(grade) ?? 0);
    },

    async featured({ sinceMs, limit }) {
      const from = "FROM listed INDEXED BY listed_best WHERE grade = 'A' AND recency <= ?";
      const count = connection.get(`SELECT count(*) AS count ${from}`, -sinceMs);
      const ids = connection
        .all(`SELECT id ${from} ORDER BY recency, host LIMIT ?`, -sinceMs, limit)
        .map((row) => row.integer('id'));
      return { count: count?.integer('count') ?? 0, records: recordsOf(ids) };
    },
  };
}

/** Parses a text once: the same few hundred hosts are asked for over and over. */
function rememberingParser(): (text: string) => PublishedScan {
  const known = new Map<string, PublishedScan>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const scan = publishedScanFromJson(text);
    const oldest = known.size < MAX_REMEMBERED ? undefined : known.keys().next().value;
    if (oldest !== undefined) known.delete(oldest);
    known.set(text, scan);
    return scan;
  };
}
