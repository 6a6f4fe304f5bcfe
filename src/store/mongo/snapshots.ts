/** Snapshots and verdicts of third parties on MongoDB. */
import { type SnapshotStore, VERDICT_LIFETIME_MS } from '../contract/snapshots.ts';
import { fromStoredJson, toStoredJson } from '../shared/stored-json.ts';
import type { MongoContext } from './context.ts';
import { idOf } from './table.ts';

export function mongoSnapshots({ snapshots, verdicts, now }: MongoContext): SnapshotStore {
  return {
    async put({ source, key, takenAtMs, data }) {
      const _id = idOf(source, key);
      const row = { takenAtMs, data: toStoredJson(data, `the snapshot ${source} ${key}`) };
      if (await snapshots.insert({ _id, ...row })) return;
      await snapshots.set(_id, row, { takenAtMs: { $lte: takenAtMs } });
    },

    async get(source, key) {
      const row = await snapshots.byId(idOf(source, key));
      return row && { source, key, takenAtMs: row.takenAtMs, data: fromStoredJson(row.data) };
    },

    async putVerdict({ host, checkId, atMs, data }) {
      const _id = idOf(host, checkId);
      const row = { atMs, data: toStoredJson(data, `the verdict of ${checkId} on ${host}`) };
      if (await verdicts.insert({ _id, host, checkId, ...row })) return;
      await verdicts.set(_id, row, { atMs: { $lte: atMs } });
    },

    async verdicts(host) {
      const rows = await verdicts.all({ host, atMs: { $gte: now() - VERDICT_LIFETIME_MS } });
      return new Map(
        rows.map((row) => [row.checkId, { atMs: row.atMs, data: fromStoredJson(row.data) }]),
      );
    },
  };
}
