import type { Db, IndexDescription } from 'mongodb';
import { StoreError } from '../errors.ts';
import type { InstanceId } from '../payment-tables.ts';
import { MEMBERSHIP_SETTINGS } from '../store.ts';
import {
  type AnyTableSpec,
  boolean,
  defineTable,
  integer,
  objectOf,
  type RowOf,
  type TablesOf,
  text,
} from '../table.ts';
import { TABLES } from '../tables.ts';
import { toStoreError, upsert } from './client.ts';
import { idColumn } from './table.ts';

/** Version of the schema that this program writes; another one in the database belongs to another program. */
const SCHEMA_VERSION = 3;

/**
 * Makes the collections and indexes that are missing; any number of instances may do it at once.
 * @throws StoreError `incompatible` if another version of the program made the database
 */
export async function prepareDatabase(database: Db, location: string): Promise<void> {
  try {
    const meta = database.collection<{ readonly _id: string; readonly version: number }>('meta');
    const schema = await meta.findOne({ _id: 'schema' });
    if (schema && schema.version !== SCHEMA_VERSION) {
      const message = `the database ${location} has schema ${schema.version}, this program knows ${SCHEMA_VERSION}: run the program that made it, or name another database in STORE_URL`;
      throw new StoreError('incompatible', message);
    }
    for (const [name, indexes] of listIndexes()) {
      // One at a time: FerretDB 1.24 closes the connection over a list of indexes that all exist.
      for (const index of indexes) await database.collection(name).createIndexes([index]);
    }
    if (schema) return;
    const version = { $set: { version: SCHEMA_VERSION } };
    await upsert(() => meta.updateOne({ _id: 'schema' }, version, { upsert: true }));
  } catch (cause) {
    throw toStoreError(cause, location);
  }
}

/** Indexes that the lists of the directory read. */
const LISTS: readonly IndexDescription['key'][] = [
  { scannedAtMs: -1, _id: 1 },
  { grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
  { grade: 1, scannedAtMs: -1, _id: 1 },
  { category: 1, scannedAtMs: -1, _id: 1 },
  { category: 1, grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
];

/**
 * Lists every collection with its indexes beside `_id`. None is a TTL or a partial index, because servers
 * that merely speak MongoDB's protocol refuse those.
 */
export function listIndexes(): ReadonlyMap<string, readonly IndexDescription[]> {
  const specs: readonly AnyTableSpec[] = Object.values({ ...TABLES, ...SHARING_TABLES });
  return new Map(specs.map((spec) => [spec.name, tableIndexes(spec)]));
}

function tableIndexes(spec: AnyTableSpec): IndexDescription[] {
  const { name, key, unique = [], indexes = [] } = spec;
  // A key that is not a single text needs an index: rows are read in its order, and by its first column.
  const read = idColumn(spec) === null ? [key, ...indexes] : indexes;
  return [
    ...unique.map((columns) => ({ key: ascending(columns), unique: true })),
    ...read.map((columns) => ({ key: ascending(columns) })),
    ...(name === TABLES.records.name ? LISTS.map((key) => ({ key })) : []),
  ];
}

function ascending(columns: readonly string[]): Readonly<Record<string, 1>> {
  return Object.fromEntries(columns.map((column) => [column, 1 as const]));
}

/** The tables of a shared store that an embedded one does not need. */
export const SHARING_TABLES = {
  /** Counters of request rates. */
  limits: defineTable({
    name: 'limits',
    columns: { key: text, count: integer, resetAtMs: integer },
    key: ['key'],
    indexes: [['resetAtMs']],
  }),
  /** Heartbeats of the processes that live on the database. */
  instances: defineTable({
    name: 'instances',
    columns: {
      boot: text,
      host: text,
      beatAtMs: integer,
      /** False until the checks that allow it to join have passed. */
      joined: boolean,
      settings: objectOf(...MEMBERSHIP_SETTINGS),
    },
    key: ['boot'],
    indexes: [['beatAtMs']],
  }),
};

export type Instance = RowOf<typeof SHARING_TABLES.instances>;

export type MongoContext = TablesOf<typeof SHARING_TABLES> & {
  readonly owner: InstanceId;
  /** Factor on the heartbeat interval and on the silence after which instances count as gone; 1 outside tests. */
  readonly timeScale: number;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};
