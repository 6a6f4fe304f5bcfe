import { StoreError } from '../contract/store-error.ts';
import type { Connection } from './connection.ts';
import { OLDEST_VERSION, STEPS } from './migrations.ts';
import { createTables } from './schema.ts';

const VERSION = OLDEST_VERSION + STEPS.length;

/**
 * Brings a file up to date in one transaction: a start that is killed half-way is simply repeated,
 * and a new file waits for the disk once.
 * @throws StoreError `incompatible` when another program wrote the file, or one that is too old
 */
export function migrate(connection: Connection): void {
  const had = connection.get('PRAGMA user_version')?.integer('user_version') ?? 0;
  if (had === VERSION) return;
  if (had > VERSION) {
    throw incompatible(
      connection,
      had,
      'run the newer program, or give this one its own STORE_URL',
    );
  }
  const isNew = had === 0 && connection.get('SELECT 1 FROM sqlite_schema') === null;
  if (!isNew && had < OLDEST_VERSION) {
    throw incompatible(connection, had, 'give this program its own STORE_URL');
  }
  connection.transaction(() => {
    const steps = isNew ? [createTables] : STEPS.slice(had - OLDEST_VERSION);
    for (const step of steps) connection.exec(step());
    connection.exec(`PRAGMA user_version = ${VERSION}`);
  });
}

/** Whether a file of this `user_version` can be opened here. */
export function isKnownVersion(version: number): boolean {
  return version >= OLDEST_VERSION && version <= VERSION;
}

function incompatible({ location }: Connection, had: number, advice: string): StoreError {
  const message = `the store ${location} has schema ${had}, this program knows ${OLDEST_VERSION} to ${VERSION}: ${advice}`;
  return new StoreError('incompatible', message);
}
