import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from './store-error.ts';

export const text: Column<string> = { kind: 'text', isNullable: false };
export const integer: Column<number> = { kind: 'integer', isNullable: false };
export const boolean: Column<boolean> = { kind: 'boolean', isNullable: false };
export const bytes: Column<Uint8Array> = { kind: 'bytes', isNullable: false };

/** A text column that holds only the values of `V`. */
export function textOf<V extends string>(): Column<V> {
  return { kind: 'text', isNullable: false };
}

export function orNull<V>({ kind }: Column<V>): Column<V | null> {
  return { kind, isNullable: true };
}

/** A column of objects whose members are texts. An engine with flat rows has a column for each member. */
export function objectOf<M extends string>(...members: readonly M[]): Column<Record<M, string>> {
  return { kind: 'object', isNullable: false, members };
}

/** Returns `spec`. Its type checks that keys and indexes name existing columns. */
export function defineTable<R>(spec: TableSpec<R>): TableSpec<R> {
  return spec;
}

/** `from` and `upTo` include the value; `after` and `before` exclude it. */
type Condition<V> =
  | V
  | { readonly in: readonly V[] }
  | { readonly notIn: readonly V[] }
  | { readonly not: V }
  | {
      readonly from?: number;
      readonly after?: number;
      readonly upTo?: number;
      readonly before?: number;
    };

export type Where<R> = { readonly [Column in keyof R]?: Condition<R[Column]> };

export type RangeOptions<R> = {
  /** Sorts by the first of these columns. Rows with equal values are sorted by the next column. */
  readonly order?: readonly (readonly [keyof R & string, 'asc' | 'desc'])[];
  readonly limit?: number;
};

/** Number of rows that are read or removed before other calls are served. */
export const BATCH_ROWS = 200;

type BatchOptions<R> = Pick<RangeOptions<R>, 'order'> & {
  /** Default `BATCH_ROWS`. */
  readonly size?: number;
};

export type Column<V = unknown> = {
  readonly kind: 'text' | 'integer' | 'boolean' | 'bytes' | 'object';
  readonly isNullable: boolean;
  /** The members of an object; each is a text. */
  readonly members?: readonly string[];
  /** Never set. It only exists to carry the type of the column's values. */
  readonly value?: V;
};

export type TableSpec<R> = {
  readonly name: string;
  readonly columns: { readonly [Name in keyof R]-?: Column<R[Name]> };
  /** The columns of the primary key. */
  readonly key: readonly (keyof NoInfer<R> & string)[];
  /** Further unique keys. */
  readonly unique?: readonly (readonly (keyof NoInfer<R> & string)[])[];
  /** Lists of columns by which rows are looked up. */
  readonly indexes?: readonly (readonly (keyof NoInfer<R> & string)[])[];
  /**
   * True if a row need not be synced when it is written. Either the row only matters while its writer lives, or a
   * synced row follows it and makes all earlier rows durable. Default: all rows are synced.
   */
  syncsLater?(row: NoInfer<R>): boolean;
};

export type AnyRow = Readonly<Record<string, unknown>>;
/** An engine reads only the names and kinds of columns, so one implementation serves all tables. */
export type AnyTableSpec = TableSpec<AnyRow>;

/** Only an insert under unique keys is atomic in all engines, so inserts decide all races. Rejects only StoreError. */
export type Table<R> = {
  /** Inserts a row. Resolves to false if another row has one of its unique keys. */
  insert(row: R): Promise<boolean>;

  /** Retries after a lost reply: if the stored row has the same `attempt` as `row`, the caller has won the race. */
  insertContended(row: R): Promise<InsertOutcome>;

  /** Finds the row with these values in the columns of the primary key. */
  get(...key: readonly (string | number)[]): Promise<R | null>;
  first(where: Where<R>, options?: RangeOptions<R>): Promise<R | null>;
  all(where: Where<R>, options?: RangeOptions<R>): Promise<readonly R[]>;

  /** Other calls are served between the arrays. Rows that are removed meanwhile may be missing. */
  batches(where: Where<R>, options?: BatchOptions<R>): AsyncIterable<readonly R[]>;

  /** Yields only these columns of the rows, like `batches`. */
  batchesOf<C extends keyof R & string>(
    where: Where<R>,
    columns: readonly C[],
  ): AsyncIterable<readonly Pick<R, C>[]>;

  /** Updates the row with the key of `row` if it exists and fulfils `condition`. Must not decide a race. */
  set(row: Partial<R>, members: Partial<R>, condition?: Where<R>): Promise<void>;

  /** Resolves to the number of removed rows. Must not decide a race. */
  remove(where: Where<R>): Promise<number>;

  /** Removes `BATCH_ROWS` rows at a time. Other calls are served between the batches. */
  removeInBatches(where: Where<R>): Promise<number>;
};

/** The part of a table that differs from engine to engine. */
export type EngineTable = Omit<Table<AnyRow>, 'insertContended' | 'batchesOf'> & {
  batchesOf(where: Where<AnyRow>, columns: readonly string[]): AsyncIterable<readonly AnyRow[]>;
};

export type RowOf<Spec> = Spec extends TableSpec<infer R> ? Readonly<R> : never;
export type TablesOf<Specs> = { readonly [Name in keyof Specs]: Table<RowOf<Specs[Name]>> };

const OPERATORS = ['from', 'after', 'upTo', 'before', 'not', 'in', 'notIn'] as const;

export type Operator = 'equal' | (typeof OPERATORS)[number];

/** Compares a column with a value; `value` is a list for `in` and `notIn`. */
export type Comparison = {
  readonly column: string;
  readonly operator: Operator;
  readonly value: unknown;
};

/** Lists the comparisons of a condition; a row must pass all of them. */
export function toComparisons(where: Where<AnyRow>): readonly Comparison[] {
  return Object.entries(where).flatMap(([column, condition]): readonly Comparison[] => {
    if (condition === undefined) return [];
    if (condition === null || typeof condition !== 'object') {
      return [{ column, operator: 'equal', value: condition }];
    }
    const values: AnyRow = { ...condition };
    const operators = OPERATORS.filter((operator) => values[operator] !== undefined);
    return operators.map((operator) => ({ column, operator, value: values[operator] }));
  });
}

/** Orders scans by time, then id, so that all instances agree on two scans of the same millisecond. */
export function orderByScan(direction: 'asc' | 'desc') {
  return [
    ['scannedAtMs', direction],
    ['scanId', direction],
  ] as const;
}

const MAX_JITTER_MS = 40;

/** Waits a random time after a lost insert, so that the racing writers do not collide again. */
export async function waitJitter(): Promise<void> {
  await delay(Math.random() * MAX_JITTER_MS);
}

export function pickColumns(row: AnyRow, columns: readonly string[]): AnyRow {
  return Object.fromEntries(columns.map((column) => [column, row[column]]));
}

/** Makes one string of several parts; different parts never make the same string. */
export function joinId(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

/**
 * The result of an insert for which several writers may race.
 * - `won`: the stored row is the caller's own, from this try or from an earlier one whose reply got lost.
 * - `lost`: another row has the key. The caller stops, or reads again.
 */
export type InsertOutcome = 'won' | 'lost';

/** A contended insert is retried for this long if replies are lost or a conflicting row is not yet committed. */
const MAX_RETRY_MS = 5_000;
const RETRY_DELAY_MS = 50;

export function openTables<Specs extends Readonly<Record<string, AnyTableSpec>>>(
  specs: Specs,
  open: (spec: AnyTableSpec) => EngineTable,
): TablesOf<Specs> {
  const tables = Object.entries(specs).map(([name, spec]) => {
    const table = open(spec);
    const insert = (row: AnyRow) => insertContended(table, spec, row);
    return [name, { ...table, insertContended: insert }];
  });
  // The compiler cannot see that each table was opened with the specification of the same name.
  return Object.fromEntries(tables) as TablesOf<Specs>;
}

async function insertContended(
  table: EngineTable,
  spec: AnyTableSpec,
  row: AnyRow,
): Promise<InsertOutcome> {
  const deadlineMs = performance.now() + MAX_RETRY_MS;
  for (;;) {
    try {
      if (await table.insert(row)) return 'won';
      const holder = await findHolder(table, spec, row);
      if (holder) return holder['attempt'] === row['attempt'] ? 'won' : 'lost';
      // The conflicting row is not yet on a majority of the servers, so it cannot be read and may still vanish.
      const message = 'a row of the database is not with a majority of its servers: check them';
      throw new StoreError('unavailable', message, { mayRetry: true });
    } catch (error) {
      const mayRetry = error instanceof StoreError && error.mayRetry;
      if (!mayRetry || performance.now() > deadlineMs) throw error;
      await delay(RETRY_DELAY_MS);
    }
  }
}

async function findHolder(
  table: EngineTable,
  { key, unique = [] }: AnyTableSpec,
  row: AnyRow,
): Promise<AnyRow | null> {
  for (const columns of [key, ...unique]) {
    const holder = await table.first(pickColumns(row, columns));
    if (holder) return holder;
  }
  return null;
}

/**
 * Inserts a row that continues a numbered sequence. A purge may remove the whole sequence during the insert, and
 * another writer may then start again at 1. If the row before this one is gone, this row is therefore removed and has
 * lost.
 * @param previous the key of the row before this one; null if this row begins a sequence
 * @param own selects only this row
 */
export async function insertNext<R>(
  table: Table<R>,
  row: R,
  previous: readonly [string, number] | null,
  own: Where<R>,
): Promise<InsertOutcome> {
  const outcome = await table.insertContended(row);
  if (outcome === 'lost' || previous === null || (await table.get(...previous))) return outcome;
  await table.remove(own);
  return 'lost';
}
