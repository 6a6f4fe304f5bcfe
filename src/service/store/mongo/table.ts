import { Binary, type Db, type Filter, type FindOptions, type SortDirection } from 'mongodb';
import { StoreError } from '../store-error.ts';
import {
  type AnyRow,
  type AnyTableSpec,
  BATCH_ROWS,
  type Comparison,
  type EngineTable,
  joinId,
  type Operator,
  pickColumns,
  type RangeOptions,
  toComparisons,
  type Where,
} from '../table.ts';
import { type Guard, isDuplicateKey } from './client.ts';

/** If the key is a single text, only `_id` holds it. Otherwise `_id` joins the key's columns, which are members too. */
export type StoredDocument = AnyRow & { readonly _id: string };

const OPERATORS: Readonly<Record<Operator, string>> = {
  equal: '$eq',
  not: '$ne',
  from: '$gte',
  after: '$gt',
  upTo: '$lte',
  before: '$lt',
  in: '$in',
  notIn: '$nin',
};

export function createMongoTable(database: Db, spec: AnyTableSpec, guard: Guard): EngineTable {
  const collection = database.collection<StoredDocument>(spec.name);
  const filter = (where: Where<AnyRow>) => toFilter(spec, where);
  const read = (document: StoredDocument) => toRow(spec, document);

  async function find(where: Filter<StoredDocument>, options: FindOptions): Promise<AnyRow[]> {
    return (await guard(() => collection.find(where, options).toArray())).map(read);
  }

  return {
    insert: (row) =>
      guard(async () => {
        try {
          await collection.insertOne(toDocument(spec, row));
          return true;
        } catch (error) {
          if (isDuplicateKey(error)) return false;
          throw error;
        }
      }),

    async get(...key) {
      return (await find({ _id: toId(key) }, {}))[0] ?? null;
    },

    async first(where, options = {}) {
      return (await find(filter(where), { ...toFindOptions(spec, options), limit: 1 }))[0] ?? null;
    },

    all: (where, options = {}) => find(filter(where), toFindOptions(spec, options)),

    async *batches(where, { size = BATCH_ROWS, ...options } = {}) {
      for await (const batch of readDocuments(filter(where), toFindOptions(spec, options), size)) {
        yield batch.map(read);
      }
    },

    async *batchesOf(where, columns) {
      const wanted = Object.fromEntries(
        Object.entries(spec.columns).filter(([column]) => columns.includes(column)),
      );
      const names = columns.filter((column) => column !== findIdColumn(spec));
      const projection = Object.fromEntries(names.map((column) => [column, 1]));
      for await (const batch of readDocuments(filter(where), { projection }, BATCH_ROWS)) {
        yield batch.map((document) => toRow({ ...spec, columns: wanted }, document));
      }
    },

    async set(row, members, condition = {}) {
      const selection = { ...filter(condition), _id: toRowId(spec, row) };
      await guard(() => collection.updateOne(selection, { $set: members }));
    },

    remove: (where) => remove(filter(where)),

    async removeInBatches(where) {
      let removedCount = 0;
      const ids = { projection: { _id: 1 } };
      for await (const batch of readDocuments(filter(where), ids, BATCH_ROWS)) {
        const _id = { $in: batch.map((document) => document._id) };
        // The filter is repeated, because a row may have changed since the batch was read, and must then stay.
        removedCount += await remove({ $and: [{ _id }, filter(where)] });
      }
      return removedCount;
    },
  };

  function remove(where: Filter<StoredDocument>): Promise<number> {
    return guard(async () => (await collection.deleteMany(where)).deletedCount);
  }

  async function* readDocuments(
    where: Filter<StoredDocument>,
    options: FindOptions,
    size: number,
  ): AsyncGenerator<readonly StoredDocument[]> {
    const cursor = collection.find(where, { ...options, batchSize: size });
    try {
      for (;;) {
        const batch: StoredDocument[] = [];
        while (batch.length < size) {
          const document = await guard(() => cursor.next());
          if (!document) break;
          batch.push(document);
        }
        if (batch.length > 0) yield batch;
        if (batch.length < size) return;
      }
    } finally {
      // Closing may fail if the server is lost.
      await cursor.close().catch(() => undefined);
    }
  }
}

/** Returns the column that is stored as `_id`; null if the key is not a single text. */
export function findIdColumn({ key, columns }: AnyTableSpec): string | null {
  const [first = ''] = key;
  return key.length === 1 && columns[first]?.kind === 'text' ? first : null;
}

function toId(key: readonly unknown[]): string {
  const parts = key.map((part) => (typeof part === 'number' ? part : String(part)));
  const [first, ...others] = parts;
  return first !== undefined && others.length === 0 ? String(first) : joinId(...parts);
}

function toRowId(spec: AnyTableSpec, row: AnyRow): string {
  return toId(spec.key.map((column) => row[column]));
}

export function toDocument(spec: AnyTableSpec, row: AnyRow): StoredDocument {
  const id = findIdColumn(spec);
  const columns = Object.keys(spec.columns).filter((column) => column !== id);
  return { ...pickColumns(row, columns), _id: toRowId(spec, row) };
}

function toRow(spec: AnyTableSpec, document: StoredDocument): AnyRow {
  const id = findIdColumn(spec);
  const row: Record<string, unknown> = {};
  for (const [column, { isNullable }] of Object.entries(spec.columns)) {
    const value = column === id ? document._id : document[column];
    if (value === undefined && !isNullable) {
      const message = `a row of ${spec.name} has no ${column}; restore the database from a backup`;
      throw new StoreError('corrupt', message);
    }
    // The driver returns bytes in a wrapper of its own.
    row[column] = value instanceof Binary ? value.value() : (value ?? null);
  }
  return row;
}

/** MongoDB takes a limit of 0 as no limit. */
function toFindOptions(
  spec: AnyTableSpec,
  { order = [], limit = 0 }: RangeOptions<AnyRow>,
): FindOptions {
  const id = findIdColumn(spec);
  const sort = order.map(([column, direction]): [string, SortDirection] => [
    column === id ? '_id' : column,
    direction,
  ]);
  return { sort, limit };
}

function toFilter(spec: AnyTableSpec, where: Where<AnyRow>): Filter<StoredDocument> {
  const comparisons = toComparisons(where);
  const isEqual = ({ operator }: Comparison) => operator === 'equal';
  const equal = new Map(comparisons.filter(isEqual).map(({ column, value }) => [column, value]));
  // A look-up by the whole key uses the index on `_id`, which every server has.
  const isWholeKey = spec.key.every((column) => equal.has(column));
  const others = comparisons.filter(
    (comparison) => !(isWholeKey && isEqual(comparison) && spec.key.includes(comparison.column)),
  );
  const filter: Record<string, Record<string, unknown>> = {};
  for (const { column, operator, value } of others) {
    const name = column === findIdColumn(spec) ? '_id' : column;
    filter[name] = { ...filter[name], [OPERATORS[operator]]: value };
  }
  if (!isWholeKey) return filter;
  return { ...filter, _id: toId(spec.key.map((column) => equal.get(column))) };
}
