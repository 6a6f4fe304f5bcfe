/** All collections, made where they are missing. */
import {
  type Collection,
  type CollectionOptions,
  type Db,
  type IndexDescription,
  MongoServerError,
} from 'mongodb';
import { StoreError } from '../contract/store-error.ts';
import type * as documents from './documents.ts';
import { mongoError } from './error.ts';
import { type CollectionName, INDEXES } from './indexes.ts';
import { type Document, Table, type TableHome } from './table.ts';

/** The shape of what this program writes; a greater one in the database is a newer program's. */
const SCHEMA_VERSION = 2;
const NAMESPACE_NOT_FOUND = 26;

export type Tables = {
  readonly ledger: Table<documents.LedgerDocument>;
  readonly ledgerOpen: Table<documents.OpenDocument>;
  readonly ledgerWritten: Table<documents.WrittenDocument>;
  readonly answers: Table<documents.AnswerDocument>;
  readonly chunks: Table<documents.ChunkDocument>;
  readonly identifiers: Table<documents.IdentifierDocument>;
  readonly results: Table<documents.ResultDocument>;
  readonly reports: Table<documents.ReportDocument>;
  readonly unpaid: Table<documents.UnpaidDocument>;
  readonly history: Table<documents.HistoryDocument>;
  readonly records: Table<documents.RecordDocument>;
  readonly changes: Table<documents.ChangeDocument>;
  readonly slots: Table<documents.SlotDocument>;
  readonly confirms: Table<documents.ConfirmDocument>;
  readonly listing: Table<documents.ListingDocument>;
  readonly versions: Table<documents.VersionDocument>;
  readonly leases: Table<documents.LeaseDocument>;
  readonly limits: Table<documents.LimitDocument>;
  readonly snapshots: Table<documents.SnapshotDocument>;
  readonly verdicts: Table<documents.VerdictDocument>;
  readonly instances: Table<documents.InstanceDocument>;
};

export function tablesOf(database: Db, home: TableHome): Tables {
  return {
    ledger: table('ledger'),
    ledgerOpen: table('ledger_open'),
    ledgerWritten: table('ledger_written'),
    answers: table('answers'),
    chunks: table('answer_chunks'),
    identifiers: table('identifiers'),
    results: table('results'),
    reports: table('reports'),
    unpaid: table('unpaid'),
    history: table('history'),
    records: table('records'),
    changes: table('changes'),
    slots: table('slots'),
    confirms: table('confirms'),
    listing: table('listing'),
    versions: table('versions'),
    leases: table('leases'),
    // A lost count lets a few more requests through; each request would wait for a majority.
    limits: table('limits', { writeConcern: { w: 1, journal: false } }),
    snapshots: table('snapshots'),
    verdicts: table('verdicts'),
    instances: table('instances'),
  };

  function table<T extends Document>(name: CollectionName, options?: CollectionOptions): Table<T> {
    return new Table(database.collection<T>(name, options), home);
  }
}

/**
 * Makes the collections and indexes that are missing; any number of instances may do it at once.
 * @throws StoreError `incompatible` when a newer program uses the database
 */
export async function prepareDatabase(database: Db, location: string): Promise<void> {
  try {
    const meta = database.collection<documents.MetaDocument>('meta');
    const found = await meta.findOne({ _id: 'schema' });
    if (found && found.version > SCHEMA_VERSION) {
      const message = `the database ${location} has schema ${found.version}, this program knows ${SCHEMA_VERSION}: run the newer program, or name another database in STORE_URL`;
      throw new StoreError('incompatible', message);
    }
    for (const [name, indexes] of Object.entries(INDEXES)) {
      await createMissing(database, name, indexes);
    }
    const update = { $set: { version: SCHEMA_VERSION } };
    if (found?.version !== SCHEMA_VERSION)
      await meta.updateOne({ _id: 'schema' }, update, { upsert: true });
  } catch (cause) {
    throw mongoError(cause, location);
  }
}

/** One at a time, and only what is missing: not every server takes a list with known indexes in it. */
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
