import type { Db } from 'mongodb';
import { StoreError } from '../contract/store-error.ts';
import { mongoError, upsert } from './error.ts';
import { listIndexes } from './indexes.ts';
import { migrate } from './migrate.ts';

/** Version of the schema that this program writes; a greater one in the database belongs to a newer program. */
const SCHEMA_VERSION = 3;

/**
 * Makes the collections and indexes that are missing; any number of instances may do it at once.
 * @throws StoreError `incompatible` when a newer program uses the database
 */
export async function prepareDatabase(database: Db, location: string): Promise<void> {
  try {
    const meta = database.collection<{ readonly _id: string; readonly version: number }>('meta');
    const found = await meta.findOne({ _id: 'schema' });
    if (found && found.version > SCHEMA_VERSION) {
      const message = `the database ${location} has schema ${found.version}, this program knows ${SCHEMA_VERSION}: run the newer program, or name another database in STORE_URL`;
      throw new StoreError('incompatible', message);
    }
    for (const [name, indexes] of listIndexes()) {
      // One at a time: FerretDB 1.24 closes the connection over a list of indexes that all exist.
      for (const index of indexes) await database.collection(name).createIndexes([index]);
    }
    if (found && found.version < SCHEMA_VERSION) await migrate(database);
    if (found?.version === SCHEMA_VERSION) return;
    const version = { $set: { version: SCHEMA_VERSION } };
    await upsert(() => meta.updateOne({ _id: 'schema' }, version, { upsert: true }));
  } catch (cause) {
    throw mongoError(cause, location);
  }
}
