import { type SnapshotStore, VERDICT_LIFETIME_MS } from '../contract/snapshots.ts';
import type { StoreContext } from './context.ts';
import { fromStoredJson, toStoredJson } from './stored-json.ts';

export function snapshotsOn({ tables, now }: StoreContext): SnapshotStore {
  const { snapshots, verdicts } = tables;
  return {
    async put({ source, key, takenAtMs, data: value }) {
      const data = toStoredJson(value, `the snapshot ${source} ${key}`);
      if (await snapshots.insert({ source, key, takenAtMs, data })) return;
      const older = { takenAtMs: { upTo: takenAtMs } };
      await snapshots.set({ source, key }, { takenAtMs, data }, older);
    },

    async get(source, key) {
      const row = await snapshots.get(source, key);
      return row && { source, key, takenAtMs: row.takenAtMs, data: fromStoredJson(row.data) };
    },

    async putVerdict({ host, checkId, atMs, data: value }) {
      const data = toStoredJson(value, `the verdict of ${checkId} on ${host}`);
      if (await verdicts.insert({ host, checkId, atMs, data })) return;
      await verdicts.set({ host, checkId }, { atMs, data }, { atMs: { upTo: atMs } });
    },

    async verdicts(host) {
      const rows = await verdicts.all({ host, atMs: { from: now() - VERDICT_LIFETIME_MS } });
      return new Map(
        rows.map((row) => [row.checkId, { atMs: row.atMs, data: fromStoredJson(row.data) }]),
      );
    },
  };
}
