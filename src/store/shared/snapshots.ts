import type { SnapshotStore } from '../contract/snapshots.ts';
import type { StoreContext } from './context.ts';
import { fromStoredJson, toStoredJson } from './stored-json.ts';

export function snapshotsOn({ tables: { snapshots } }: StoreContext): SnapshotStore {
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
  };
}
