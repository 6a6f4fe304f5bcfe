/** A directory of any size in an embedded store, written at once and the same each time. */

import { publishedScanToJson } from '../../src/store/rules/published-scan.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { rebuildListed } from '../../src/store/sqlite/rebuild-listed.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
import {
  type DirectorySeed,
  hiddenBy,
  ownersOf,
  type SeededHost,
  seededHosts,
} from './seeded-hosts.ts';

/** As if each had been scanned once, a fiftieth had been verified and a few had opted out. */
export async function seedDirectory(database: string, seed: DirectorySeed): Promise<void> {
  await openSqlite(database).close();
  const connection = new Connection(database, database);
  try {
    connection.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000');
    connection.transaction(() => {
      for (const host of seededHosts(seed)) insertHost(connection, host);
      connection.exec("INSERT INTO versions (name, n) VALUES ('preferences', 1)");
      rebuildListed(connection);
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
  for (const setting of hiddenBy(seeded)) {
    connection.run(
      'INSERT INTO listing (setting, host, value, at_ms, keyed_by) VALUES (?, ?, ?, ?, NULL)',
      setting,
      host,
      setting === 'listed' ? 0 : 1,
      scannedAtMs,
    );
  }
}
