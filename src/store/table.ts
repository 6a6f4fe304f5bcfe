import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from './errors.ts';

export const text: Column<string> = { kind: 'text', isNullable: false };
export const integer: Column<number> = { kind: 'integer', isNullable: false };
export const boolean: Column<boolean> = { kind: 'boolean', isNullable: false };
export const bytes: Column<Uint8Array> = { kind: 'bytes', isNullable: false };

export function textOf<V extends string>(): Column<V> {
  return { kind: 'text', isNullable: false };
}

export function orNull<V>({ kind }: Column<V>): Column<V | null> {
  return { kind, isNullable: true };
}

/** An object of texts; an engine with flat rows has a column for each. */
export function objectOf<M extends string>(...members: readonly M[]): Column<Record<M, string>> {
  return { kind: 'object', isNullable: false, members };
}

/** Checks keys and indexes against the columns, which make the type of the rows. */
export function defineTable<R>(spec: TableSpec<R>): TableSpec<R> {
  return spec;
}

const LONGEST_JITTER_MS = 40;

export type Condition<V> =
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

/** Every condition holds. */
export type Where<R> = { readonly [Column in keyof R]?: Condition<R[Column]> };

export type RangeOptions<R> = {
  /** Sorts by these columns, the first one first. */
  readonly order?: readonly (readonly [keyof R & string, 'asc' | 'desc'])[];
  readonly limit?: number;
};

/** Number of rows that are read or removed before other calls are served. */
export const BATCH_ROWS = 200;

export type BatchOptions<R> = Pick<RangeOptions<R>, 'order'> & {
  /** Default `BATCH_ROWS`. */
  readonly size?: number;
};

export type Column<V = unknown> = {
  readonly kind: 'text' | 'integer' | 'boolean' | 'bytes' | 'object';
  readonly isNullable: boolean;
  /** The members of an object; each is a text. */
  readonly members?: readonly string[];
  /** Never set; it only carries the type of the values. */
  readonly value?: V;
};

export type TableSpec<R> = {
  readonly name: string;
  readonly columns: { readonly [Name in keyof R]-?: Column<R[Name]> };
  /** The columns that name a row. */
  readonly key: readonly (keyof NoInfer<R> & string)[];
  /** Further unique keys. */
  readonly unique?: readonly (readonly (keyof NoInfer<R> & string)[])[];
  /** Rows are looked up by these. */
  readonly indexes?: readonly (readonly (keyof NoInfer<R> & string)[])[];
  /**
   * True for rows that need not be synced at once: they stand for work of their writer, or a synced row follows them
   * and makes all earlier rows durable with it. Default: no row.
   */
  syncsLater?(row: NoInfer<R>): boolean;
};

/** A row of any table. */
export type AnyRow = Readonly<Record<string, unknown>>;
/** Engines read only names and kinds, so one implementation serves every table. */
export type AnyTableSpec = TableSpec<AnyRow>;

/**
 * Rows of one kind. Only an insert under unique keys is atomic on every engine, so inserts decide every race. Every
 * method rejects with `StoreError` only.
 */
export type Table<R> = {
  /** False if a unique key of the row is taken. */
  insert(row: R): Promise<boolean>;

  /**
   * Inserts a contended row and returns the winner, also when the reply to an earlier try was lost: a stored row with
   * this row's attempt means that the caller won.
   */
  insertContended(row: R): Promise<InsertOutcome>;

  /** The row with these values of the key's columns. */
  get(...key: readonly (string | number)[]): Promise<R | null>;
  first(where: Where<R>, options?: RangeOptions<R>): Promise<R | null>;
  all(where: Where<R>, options?: RangeOptions<R>): Promise<readonly R[]>;

  /** Yields rows in arrays of at most `size`, and serves others between them. Rows removed meanwhile may be missing. */
  batches(where: Where<R>, options?: BatchOptions<R>): AsyncIterable<readonly R[]>;

  /** Sets members of the row with the key of `row`, if it exists and matches `only`. Decides no race. */
  set(row: Partial<R>, members: Partial<R>, only?: Where<R>): Promise<void>;

  /** Resolves to the number of rows removed. Decides no race. */
  remove(where: Where<R>): Promise<number>;

  /** Removes `BATCH_ROWS` rows at a time, and serves others between the batches. */
  removeInBatches(where: Where<R>): Promise<number>;
};

/** The part of a table that differs from engine to engine. */
export type EngineTable = Omit<Table<AnyRow>, 'insertContended'>;

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
    const given: AnyRow = { ...condition };
    const operators = OPERATORS.filter((operator) => given[operator] !== undefined);
    return operators.map((operator) => ({ column, operator, value: given[operator] }));
  });
}

/** Orders scans by time, then id, so that all instances agree on two scans of the same millisecond. */
export function orderByScan(way: 'asc' | 'desc') {
  return [
    ['scannedAtMs', way],
    ['scanId', way],
  ] as const;
}

/** Waits a random time before the number after a lost one is tried, so that racers do not collide again. */
export async function waitJitter(): Promise<void> {
  await delay(Math.random() * LONGEST_JITTER_MS);
}

/** Selects these columns of a row. */
export function pickColumns(row: AnyRow, columns: readonly string[]): AnyRow {
  return Object.fromEntries(columns.map((column) => [column, row[column]]));
}

/** Makes one string of several parts; different parts never make the same string. */
export function joinId(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

/**
 * The answer to every contended insert. `won`: the row in the store is the caller's own (also when
 * it was inserted by an earlier try with the same attempt id, whose reply got lost). `lost`:
 * another row holds the key, and the caller stops or reads again.
 */
export type InsertOutcome = 'won' | 'lost';

/** Time within which a decision is retried after a lost reply or an uncommitted conflicting row. */
const DECIDE_WITHIN_MS = 5_000;
const RETRY_DELAY_MS = 50;

export function openTables<Specs extends Readonly<Record<string, AnyTableSpec>>>(
  specs: Specs,
  open: (spec: AnyTableSpec) => EngineTable,
): TablesOf<Specs> {
  const tables = Object.entries(specs).map(([name, spec]) => {
    const table = open(spec);
    return [
      name,
      { ...table, insertContended: (row: AnyRow) => insertContended(table, spec, row) },
    ];
  });
  // The compiler cannot follow names through entries: each table was opened by the specification of its name.
  return Object.fromEntries(tables) as TablesOf<Specs>;
}

async function insertContended(
  table: EngineTable,
  spec: AnyTableSpec,
  row: AnyRow,
): Promise<InsertOutcome> {
  const deadlineMs = performance.now() + DECIDE_WITHIN_MS;
  for (;;) {
    try {
      if (await table.insert(row)) return 'won';
      const holder = await findHolder(table, spec, row);
      if (holder) return holder['attempt'] === row['attempt'] ? 'won' : 'lost';
      // A shared database may refuse a row for one that is not yet with a majority, and may still vanish.
      const message = 'a row of the database is not with a majority of its servers: check them';
      throw new StoreError('unavailable', message, { mayRetry: true });
    } catch (error) {
      const mayRetry = error instanceof StoreError && error.mayRetry;
      if (!mayRetry || performance.now() > deadlineMs) throw error;
      await delay(RETRY_DELAY_MS);
    }
  }
}

/** Finds the row that holds a unique key of this one. */
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
 * Decides a row that continues a sequence. A purge may remove the whole sequence during the insert, and another writer
 * may then start again at 1. A row whose predecessor is gone has therefore lost.
 * @param previous the key of the predecessor; null: the row begins a sequence
 * @param own finds only this row
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
