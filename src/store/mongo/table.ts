import { Binary, type Filter, type Sort } from 'mongodb';
import { StoreError } from '../contract/store-error.ts';
import { type Comparison, comparisonsOf, type Operator } from '../shared/conditions.ts';
import {
  idOf,
  type RangeOptions,
  type Table,
  type TableShape,
  type TableSpec,
  type Where,
} from '../shared/table.ts';
import type { Collected } from './collected.ts';

/** A row as it is stored: a key of one text is the `_id` alone, any other stands beside it. */
export type StoredDocument = { readonly _id: string } & Readonly<Record<string, unknown>>;

const OPERATORS: Readonly<Record<Operator, string>> = {
  equal: '$eq',
  not: '$ne',
  from: '$gte',
  after: '$gt',
  upTo: '$lte',
  before: '$lt',
  in: '$in',
};

export function mongoTable<R extends object>(
  documents: Collected<StoredDocument>,
  spec: TableSpec<R>,
): Table<R> {
  const filter = (where: Where<R>) => filterOf(spec, where);
  const options = (range: RangeOptions<R>) => ({
    ...(range.order === undefined ? {} : { sort: sortOf(spec, range.order) }),
    ...(range.limit === undefined ? {} : { limit: range.limit }),
  });
  const read = (document: StoredDocument) => rowOf(spec, document);

  return {
    insert: (row) => documents.insert(documentOf(spec, row)),

    decide(row) {
      const document = documentOf(spec, row);
      const others = (spec.unique ?? []).map((columns) =>
        Object.fromEntries(columns.map((column) => [column, document[column]])),
      );
      return documents.decide(document, others);
    },

    async get(...key) {
      const document = await documents.byId(idFor(key));
      return document && read(document);
    },

    async first(where, range = {}) {
      const document = await documents.first(filter(where), options(range));
      return document && read(document);
    },

    async all(where, range = {}) {
      return (await documents.all(filter(where), options(range))).map(read);
    },

    async *batches(where, range, size) {
      for await (const batch of documents.batches(filter(where), options(range), size)) {
        yield batch.map(read);
      }
    },

    replace: (row) => documents.replace(documentOf(spec, row)),

    async set(row, members, only = {}) {
      await documents.set({ ...filter(only), _id: idOfRow(spec, row) }, { ...members });
    },

    remove: (where) => documents.remove(filter(where)),

    removeInBatches: (where, size) => documents.removeInBatches(filter(where), size),
  };
}

/** The column that `_id` stands for, if there is one. */
function idColumn({ key, columns }: TableShape): string | null {
  const [only, ...more] = key;
  return only !== undefined && more.length === 0 && columns[only] === 'text' ? only : null;
}

function idFor(key: readonly unknown[]): string {
  const parts = key.map((part) => (typeof part === 'number' ? part : String(part)));
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 ? String(only) : idOf(...parts);
}

function idOfRow<R>(spec: TableSpec<R>, row: Partial<R>): string {
  return idFor(spec.key.map((column) => row[column]));
}

export function documentOf<R extends object>(spec: TableSpec<R>, row: R): StoredDocument {
  const members = new Map<string, unknown>(Object.entries(row));
  const id = idColumn(spec);
  const columns = Object.keys(spec.columns).filter((column) => column !== id);
  const stored = Object.fromEntries(columns.map((column) => [column, members.get(column)]));
  return { ...stored, _id: idOfRow(spec, row) };
}

export function rowOf<R extends object>(spec: TableSpec<R>, document: StoredDocument): R {
  const id = idColumn(spec);
  const members: Record<string, unknown> = {};
  for (const [column, type] of Object.entries<string>(spec.columns)) {
    const value = column === id ? document._id : unwrapped(document[column]);
    if (value === undefined && !type.endsWith('or null')) {
      const message = `a row of ${spec.name} has no ${column}; restore the database from a backup`;
      throw new StoreError('corrupt', message);
    }
    members[column] = value ?? null;
  }
  // Every column of the specification is there.
  return members as R;
}

/** The driver hands bytes back in its own wrapper. */
function unwrapped(value: unknown): unknown {
  return value instanceof Binary ? value.value() : value;
}

function sortOf<R>(spec: TableShape, order: NonNullable<RangeOptions<R>['order']>): Sort {
  const id = idColumn(spec);
  return Object.fromEntries(
    order.map(([column, way]) => [column === id ? '_id' : column, way === 'asc' ? 1 : -1]),
  );
}

export function filterOf<R>(spec: TableShape, where: Where<R>): Filter<StoredDocument> {
  const comparisons = comparisonsOf(where);
  const equal = new Map(
    comparisons
      .filter(({ operator }) => operator === 'equal')
      .map(({ column, value }) => [column, value]),
  );
  // A whole key is looked up by the one index that every server has.
  const isWholeKey = spec.key.every((column) => equal.has(column));
  const rest = isWholeKey
    ? comparisons.filter(
        ({ column, operator }) => operator !== 'equal' || !spec.key.includes(column),
      )
    : comparisons;
  const filter: Record<string, Record<string, unknown>> = {};
  for (const comparison of rest) add(filter, spec, comparison);
  if (!isWholeKey) return filter;
  const _id = idFor(spec.key.map((column) => equal.get(column)));
  return { ...filter, _id };
}

function add(
  filter: Record<string, Record<string, unknown>>,
  spec: TableShape,
  { column, operator, value }: Comparison,
): void {
  const name = column === idColumn(spec) ? '_id' : column;
  filter[name] = { ...filter[name], [OPERATORS[operator]]: value };
}
