/** The same seeded directory in a shared store. */
import { type Db, MongoClient } from 'mongodb';
import { type StoredDocument, toDocument } from '../../src/service/store/mongo/table.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { TABLES } from '../../src/service/store/tables.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import type { SeededStore } from './seeded-directory.ts';
import { type DirectorySeed, type SeededHost, seededHosts } from './seeded-hosts.ts';
import { toRows } from './seeded-rows.ts';

const BATCH = 1_000;

/** On MONGODB_URI, or on the server that the tests build. */
export async function openSeededShared(seed: DirectorySeed): Promise<SeededStore> {
  const server = await startMongoServer();
  if (!('uri' in server)) throw new Error(server.unavailable);
  const store = await openStore(server.uri, { clock: () => seed.nowMs });
  const client = new MongoClient(server.uri);
  const database = client.db();
  const batch: SeededHost[] = [];
  for (const host of seededHosts(seed)) {
    batch.push(host);
    if (batch.length === BATCH) await insertHosts(database, batch.splice(0));
  }
  if (batch.length > 0) await insertHosts(database, batch);
  await client.close();
  return {
    store,
    bytes: null,
    clock: () => performance.now(),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function insertHosts(database: Db, hosts: readonly SeededHost[]): Promise<void> {
  const rows = hosts.map((host) => toRows(host));
  await insert('records', (row) => toDocument(TABLES.records, row.records));
  await insert('changes', (row) => toDocument(TABLES.changes, row.changes));
  await insert('owners', ({ owner }) => owner && toDocument(TABLES.owners, owner));

  async function insert(
    name: string,
    toDocument: (row: ReturnType<typeof toRows>) => StoredDocument | null,
  ): Promise<void> {
    const documents = rows.map(toDocument).filter((document) => document !== null);
    if (documents.length > 0) await database.collection<StoredDocument>(name).insertMany(documents);
  }
}
