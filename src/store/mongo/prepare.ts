import { type Collection, type Db, type IndexDescription, MongoServerError } from 'mongodb';
import { StoreError } from '../contract/store-error.ts';
import { mongoError, upsert } from './error.ts';
import { listIndexes } from './indexes.ts';
import { migrate } from './migrate.ts';

/** Version of the schema that this program writes; a greater one in the database belongs to a newer program. */
const SCHEMA_VERSION = 3;
const NAMESPACE_NOT_FOUND = 26;

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
    for (const [name, indexes] of listIndexes()) await createMissing(database, name, indexes);
    if (found && found.version < SCHEMA_VERSION) await migrate(database);
    if (found?.version === SCHEMA_VERSION) return;
    const version = { $set: { version: SCHEMA_VERSION } };
    await upsert(() => meta.updateOne({ _id: 'schema' }, version, { upsert: true }));
  } catch (cause) {
    throw mongoError(cause, location);
  }
}

/** Creates missing indexes one at a time, because some servers refuse a list that holds an existing index. */
async function createMissing(
  database: Db,
  name: string,
  indexes: readonly IndexDescription[],
): Promise<void> {
  if (indexes.length === 0) return;
  const collection = database.collection(name);
  const there = new Set((await existingIndexes(collection)).map(({ key }) => JSON.stringify(key)));
  for (const index of indexes) {
    if (!there.has(JSON.stringify(index.key))) await collection.createIndexes([index]);
  }
}

async function existingIndexes(collection: Collection): Promise<readonly IndexDescription[]> {
  try {
    return await collection.indexes();
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND) return [];
    throw error;
  }
}
