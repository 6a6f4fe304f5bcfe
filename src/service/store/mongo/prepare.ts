import type { Db, IndexDescription } from 'mongodb';
import type { InstanceId } from '../payment-tables.ts';
import { MEMBERSHIP_SETTINGS } from '../store.ts';
import { StoreError } from '../store-error.ts';
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
import { retryUpsert, toStoreError } from './client.ts';
import { findIdColumn } from './table.ts';

const SCHEMA_VERSION = 3;

/** Several instances may call it at once. Throws StoreError `incompatible` if another version made the database. */
export async function prepareDatabase(database: Db, location: string): Promise<void> {
  try {
    const meta = database.collection<{ readonly _id: string; readonly version: number }>('meta');
    const schema = await meta.findOne({ _id: 'schema' });
    if (schema && schema.version !== SCHEMA_VERSION) {
      const message = `the database ${location} has schema ${schema.version}, this program knows ${SCHEMA_VERSION}: run the program that made it, or name another database in STORE_URL`;
      throw new StoreError('incompatible', message);
    }
    for (const spec of Object.values<AnyTableSpec>({ ...TABLES, ...SHARING_TABLES })) {
      const table = database.collection(spec.name);
      // Indexes are created one by one, because FerretDB 1.24 closes the connection if all indexes of a list exist.
      for (const index of listIndexes(spec)) await table.createIndexes([index]);
    }
    await dropOldIndexes(database);
    if (schema) return;
    const version = { $set: { version: SCHEMA_VERSION } };
    await retryUpsert(() => meta.updateOne({ _id: 'schema' }, version, { upsert: true }));
  } catch (cause) {
    throw toStoreError(cause, location);
  }
}

/** Names of the indexes of `records` that lists of older programs read. */
const OLD_RECORD_INDEXES = [
  'scannedAtMs_-1__id_1',
  'grade_1_score_-1_scannedAtMs_-1__id_1',
  'grade_1_scannedAtMs_-1__id_1',
  'category_1_scannedAtMs_-1__id_1',
  'category_1_grade_1_score_-1_scannedAtMs_-1__id_1',
];

async function dropOldIndexes(database: Db): Promise<void> {
  const records = database.collection(TABLES.records.name);
  for (const { name = '' } of await records.indexes()) {
    // An index that stays only takes room. Another instance may have dropped it, or this user may not drop it.
    if (OLD_RECORD_INDEXES.includes(name)) await records.dropIndex(name).catch(() => undefined);
  }
}

/** The columns by which lists filter, beside category and grade. */
const FILTERED = { payableUntilMs: 1, payableWeekDays: 1, paidBy: 1 } as const;

/**
 * Indexes that the lists of the directory read. Each has every column of a filter, so that MongoDB counts and lists
 * hosts by the keys of the index, and reads no document. `reached` is first because all lists select by it.
 */
const RECORD_INDEXES: readonly IndexDescription['key'][] = [
  { reached: 1, scannedAtMs: -1, _id: 1, category: 1, grade: 1, ...FILTERED },
  { reached: 1, firstSeenAtMs: -1, _id: 1, category: 1, grade: 1, ...FILTERED },
  { reached: 1, grade: 1, score: -1, scannedAtMs: -1, _id: 1, category: 1, ...FILTERED },
  { reached: 1, grade: 1, scannedAtMs: -1, _id: 1, ...FILTERED },
  { reached: 1, category: 1, scannedAtMs: -1, _id: 1, grade: 1, ...FILTERED },
  { reached: 1, category: 1, grade: 1, scannedAtMs: -1, _id: 1, ...FILTERED },
  { reached: 1, category: 1, grade: 1, score: -1, scannedAtMs: -1, _id: 1, ...FILTERED },
  { reached: 1, ...FILTERED, grade: 1, category: 1, _id: 1 },
];

/** There are no TTL or partial indexes, because some servers with MongoDB's protocol refuse them. */
function listIndexes(spec: AnyTableSpec): IndexDescription[] {
  const { name, key, unique = [], indexes = [] } = spec;
  // A key that is not stored as `_id` needs an index, because rows are looked up by its first column and sorted.
  const lookups = findIdColumn(spec) === null ? [key, ...indexes] : indexes;
  return [
    ...unique.map((columns) => ({ key: toAscendingKey(columns), unique: true })),
    ...lookups.map((columns) => ({ key: toAscendingKey(columns) })),
    ...(name === TABLES.records.name ? RECORD_INDEXES.map((key) => ({ key })) : []),
  ];
}

function toAscendingKey(columns: readonly string[]): Readonly<Record<string, 1>> {
  return Object.fromEntries(columns.map((column) => [column, 1 as const]));
}

/** The tables that only a shared store needs. */
export const SHARING_TABLES = {
  /** Counters of request rates. */
  limits: defineTable({
    name: 'limits',
    columns: { key: text, count: integer, resetAtMs: integer },
    key: ['key'],
    indexes: [['resetAtMs']],
  }),
  /** The processes that use the database, each with its last heartbeat. */
  instances: defineTable({
    name: 'instances',
    columns: {
      boot: text,
      host: text,
      beatAtMs: integer,
      /** True after the instance has found no conflict and has joined. */
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
  /** A factor on the heartbeat interval and on `SILENT_AFTER_MS`. Only tests set it. Default 1. */
  readonly timeScale: number;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};
