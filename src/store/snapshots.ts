import type { JsonValue } from '../model/json.ts';
import type { StoreContext } from './context.ts';
import { fromStoredJson, toStoredJson } from './stored-json.ts';

export type EcosystemSnapshot = {
  /** Name of the index, listing or chain. */
  readonly source: string;
  /** The question to the source. */
  readonly key: string;
  readonly takenAtMs: number;
  /** At most 8 MiB as JSON; `too_large` otherwise. */
  readonly data: JsonValue;
};

/** Last good answers of third parties. */
export function snapshotsOn({ tables: { snapshots } }: StoreContext) {
  return {
    /** Replaces an older one; an older one never replaces a newer. Kept 90 days. */
    async put({ source, key, takenAtMs, data: value }: EcosystemSnapshot): Promise<void> {
      const data = toStoredJson(value, `the snapshot ${source} ${key}`);
      if (await snapshots.insert({ source, key, takenAtMs, data })) return;
      const older = { takenAtMs: { upTo: takenAtMs } };
      await snapshots.set({ source, key }, { takenAtMs, data }, older);
    },

    async get(source: string, key: string): Promise<EcosystemSnapshot | null> {
      const row = await snapshots.get(source, key);
      return row && { source, key, takenAtMs: row.takenAtMs, data: fromStoredJson(row.data) };
    },
  };
}
