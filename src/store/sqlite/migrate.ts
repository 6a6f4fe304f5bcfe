/** Brings a database file up to this schema. */
import { StoreError } from '../contract/store-error.ts';
import type { Connection } from './connection.ts';
import { MIGRATIONS } from './migrations.ts';

/**
 * Brings a file up to date in one transaction: a start that is killed half-way is simply repeated,
 * and a new file waits for the disk once.
 * @throws StoreError `incompatible` when a newer program wrote the file
 */
export function migrate(connection: Connection): void {
  const had = connection.get('PRAGMA user_version')?.integer('user_version') ?? 0;
  if (had > MIGRATIONS.length) {
    const message = `the store ${connection.location} has schema ${had}, this program knows ${MIGRATIONS.length}: run the newer program, or give this one its own STORE_URL`;
    throw new StoreError('incompatible', message);
  }
  if (had === MIGRATIONS.length) return;
  connection.transaction(() => {
    for (const step of MIGRATIONS.slice(had)) {
      if (typeof step === 'string') connection.exec(step);
      else step(connection);
    }
    connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}
