/** A directory of any size in an embedded store, written at once and the same each time. */

import type { Store } from '../../src/store/contract/store.ts';
import { publishedScanToJson } from '../../src/store/shared/published-scan.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
import {
  type DirectorySeed,
  hiddenBy,
  ownersOf,
  type SeededHost,
  seededHosts,
} from './seeded-hosts.ts';
import { newDataFolder, usedBytes } from './seeded-store.ts';

/** A larger directory would fill the memory. */
const MAX_IN_MEMORY = 100_000;

/** A store over a seeded directory; both go when it is disposed. */
export type SeededStore = AsyncDisposable & {
  readonly store: Store;
  /** Of the store alone; null where it cannot be told. */
  readonly bytes: number | null;
  /** In ms: what a call costs this machine, or how long it takes where another process computes. */
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

/** As if each had been scanned once, a fiftieth had been verified and a few had opted out. */
export async function seedDirectory(database: string, seed: DirectorySeed): Promise<void> {
  await openSqlite(database).close();
  const connection = new Connection(database, database);
  try {
    connection.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000');
    connection.transaction(() => {
      for (const host of seededHosts(seed)) {
        insertHost(connection, host);
        if (seed.hasHidden !== false) hideHost(connection, host);
      }
      connection.exec("INSERT INTO versions (name, n) VALUES ('preferences', 1)");
    });
  } finally {
    connection.close();
  }
}

function insertHost(connection: Connection, seeded: SeededHost): void {
  const { n, scan } = seeded;
  const { host, scanId, scannedAtMs, grade, score, checksVersion, branding } = scan;
  const judged = [grade, score] as const;
  connection.run(
    `INSERT INTO records (id, host, scan_id, scanned_at_ms, grade, score, category,
       first_seen_at_ms, scan_count, scan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?)`,
    n + 1,
    host,
    scanId,
    scannedAtMs,
    ...judged,
    branding.category,
    scannedAtMs,
    publishedScanToJson(scan),
  );
  connection.run(
    `INSERT INTO history (host, seq, scan_id, scanned_at_ms, grade, score, checks_version)
     VALUES (?, 1, ?, ?, ?, ?, ?)`,
    host,
    scanId,
    scannedAtMs,
    ...judged,
    checksVersion,
  );
  connection.run(
    `INSERT INTO changes (n, scan_id, change_type, changed_at_ms, host, grade, score,
       checks_version) VALUES (?, ?, 'new', ?, ?, ?, ?, ?)`,
    n + 1,
    scanId,
    // In the order of their numbers, whenever the scan was.
    n + 1,
    host,
    ...judged,
    checksVersion,
  );
  for (const { confirmedAtMs } of ownersOf(seeded)) {
    connection.run(
      `INSERT INTO confirms (host, at_ms, token_hash, key_hash, client)
       VALUES (?, ?, 'token', 'key', 'client')`,
      host,
      confirmedAtMs,
    );
  }
}

function hideHost(connection: Connection, seeded: SeededHost): void {
  for (const setting of hiddenBy(seeded)) {
    connection.run(
      'INSERT INTO listing (setting, host, value, at_ms, keyed_by) VALUES (?, ?, ?, ?, NULL)',
      setting,
      seeded.scan.host,
      setting === 'listed' ? 0 : 1,
      seeded.scan.scannedAtMs,
    );
  }
}
