/** A directory of any size in an embedded store, written at once and the same each time. */

import { Connection } from '../../src/service/store/sqlite/database.ts';
import { openSqlite, openSqliteTables } from '../../src/service/store/sqlite/store.ts';
import type { Store } from '../../src/service/store/store.ts';

import { type DirectorySeed, seededHosts } from './seeded-hosts.ts';
import { toRows } from './seeded-rows.ts';
import { newDataFolder, usedBytes } from './seeded-store.ts';

/** A larger directory would fill the memory. */
const MAX_IN_MEMORY = 100_000;

/** A store over a seeded directory; both go when it is disposed. */
export type SeededStore = AsyncDisposable & {
  readonly store: Store;
  /** Memory of the store; null if it is unknown. */
  readonly bytes: number | null;
  /** In ms: what a call costs this machine, or how long it takes if another process computes. */
  readonly clock: () => number;
};

export async function openSeeded(seed: DirectorySeed): Promise<SeededStore> {
  const data = await newDataFolder(seed.hosts > MAX_IN_MEMORY ? 'disk' : 'scratch');
  await seedDirectory(data.database, seed);
  const bytes = usedBytes(data.database);
  const store = openSqlite(data.database, { clock: () => seed.nowMs });
  return {
    store,
    bytes,
    clock: processorMs,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await data[Symbol.asyncDispose]();
    },
  };
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Writes hosts that were scanned once. A fiftieth of them is verified, and a few have opted out. */
export async function seedDirectory(database: string, seed: DirectorySeed): Promise<void> {
  await openSqlite(database).close();
  const connection = new Connection(database, database);
  try {
    connection.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000');
    const { records, history, changes, owners } = openSqliteTables(connection);
    connection.exec('BEGIN');
    for (const host of seededHosts(seed)) {
      const rows = toRows(host, seed.hasHidden);
      await records.insert(rows.records);
      await history.insert(rows.history);
      await changes.insert(rows.changes);
      if (rows.owner !== null) await owners.insert(rows.owner);
    }
    connection.exec('COMMIT');
  } finally {
    connection.close();
  }
}
