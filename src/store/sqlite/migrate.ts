import { StoreError } from '../contract/store-error.ts';
import type { Connection } from './connection.ts';
import { OLDEST_VERSION, STEPS } from './migrations.ts';
import { addColumns, createTables } from './schema.ts';

/** A new table, column or index needs no new version, because every start creates the missing ones. */
const VERSION = OLDEST_VERSION + STEPS.length;

const TABLE_NAMES = "SELECT name FROM sqlite_schema WHERE type = 'table'";

/**
 * Migrates a file in one transaction, so that a start that was killed can be repeated, and a new file
 * is synced once.
 * @throws StoreError `incompatible` when another program wrote the file, or one that is too old
 */
export function migrate(connection: Connection): void {
  const had = readVersion(connection);
  const isNew = had === 0 && connection.value('SELECT 1 FROM sqlite_schema') === null;
  if (!isNew && !isKnownVersion(had)) {
    const advice =
      had > VERSION
        ? 'run the newer program, or give this one its own STORE_URL'
        : 'give this program its own STORE_URL';
    const message = `the store ${connection.location} has schema ${had}, this program knows ${OLDEST_VERSION} to ${VERSION}: ${advice}`;
    throw new StoreError('incompatible', message);
  }
  connection.transaction(() => {
    for (const step of isNew ? [] : STEPS.slice(had - OLDEST_VERSION)) {
      connection.exec(step(connection.values(TABLE_NAMES).map(String)));
    }
    addColumns(connection);
    connection.exec(createTables());
    if (had !== VERSION) connection.exec(`PRAGMA user_version = ${VERSION}`);
  });
}

/** True for a `user_version` that this program can open. */
export function isKnownVersion(version: number): boolean {
  return version >= OLDEST_VERSION && version <= VERSION;
}

export function readVersion(connection: Connection): number {
  return Number(connection.value('PRAGMA user_version'));
}
