/** Snapshots and verdicts of third parties on SQLite. */
import { type SnapshotStore, VERDICT_LIFETIME_MS } from '../contract/snapshots.ts';
import { fromStoredJson, toStoredJson } from '../shared/stored-json.ts';
import type { SqliteContext } from './context.ts';

export function sqliteSnapshots({ connection, now }: SqliteContext): SnapshotStore {
  return {
    async put({ source, key, takenAtMs, data }) {
      connection.run(
        `INSERT INTO snapshots (source, key, taken_at_ms, data) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET taken_at_ms = excluded.taken_at_ms, data = excluded.data
         WHERE excluded.taken_at_ms >= snapshots.taken_at_ms`,
        source,
        key,
        takenAtMs,
        toStoredJson(data, `the snapshot ${source} ${key}`),
      );
    },

    async get(source, key) {
      const row = connection.get(
        'SELECT taken_at_ms, data FROM snapshots WHERE source = ? AND key = ?',
        source,
        key,
      );
      return (
        row && {
          source,
          key,
          takenAtMs: row.integer('taken_at_ms'),
          data: fromStoredJson(row.text('data')),
        }
      );
    },

    async putVerdict({ host, checkId, atMs, data }) {
      connection.run(
        `INSERT INTO verdicts (host, check_id, at_ms, data) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms, data = excluded.data
         WHERE excluded.at_ms >= verdicts.at_ms`,
        host,
        checkId,
        atMs,
        toStoredJson(data, `the verdict of ${checkId} on ${host}`),
      );
    },

    async verdicts(host) {
      const rows = connection.all(
        'SELECT check_id, at_ms, data FROM verdicts WHERE host = ? AND at_ms >= ?',
        host,
        now() - VERDICT_LIFETIME_MS,
      );
      return new Map(
        rows.map((row) => [
          row.text('check_id'),
          { atMs: row.integer('at_ms'), data: fromStoredJson(row.text('data')) },
        ]),
      );
    },
  };
}
