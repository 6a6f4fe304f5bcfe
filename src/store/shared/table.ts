import { setTimeout as delay } from 'node:timers/promises';
import type { InsertOutcome } from '../contract/insert-outcome.ts';

const LONGEST_JITTER_MS = 40;

export type Condition<V> =
  | V
  | { readonly in: readonly V[] }
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
  /** By these columns, one after the other. */
  readonly order?: readonly (readonly [keyof R & string, 'asc' | 'desc'])[];
  readonly limit?: number;
};

export type Column<V = unknown> = {
  readonly kind: 'text' | 'integer' | 'boolean' | 'bytes' | 'object';
  readonly isNullable: boolean;
  /** The members of an object; each is a text. */
  readonly members?: readonly string[];
  /** Never set: it carries the type of the values. */
  readonly value?: V;
};

export type TableSpec<R> = {
  readonly name: string;
  readonly columns: { readonly [Name in keyof R]-?: Column<R[Name]> };
  /** The columns that name a row. */
  readonly key: readonly (keyof NoInfer<R> & string)[];
  /** Further columns that no two rows may have alike. */
  readonly unique?: readonly (readonly (keyof NoInfer<R> & string)[])[];
  /** Rows are looked up by these. */
  readonly indexes?: readonly (readonly (keyof NoInfer<R> & string)[])[];
  /**
   * Rows that need not outlive a loss of power by themselves: they stand for work of their writer, or another row that
   * does outlive it is written after them, and all before it with it. Default: none.
   */
  passing?(row: NoInfer<R>): boolean;
};

/** A row of any table. */
export type AnyRow = Readonly<Record<string, unknown>>;
/** An engine reads names and kinds alone, and is the same for every table. */
export type AnyTableSpec = TableSpec<AnyRow>;

/**
 * Rows of one kind. An insert under unique keys is atomic on every engine and decides every race; nothing else is relied
 * upon to be. Every method rejects with `StoreError` alone.
 */
export type Table<R> = {
  /** False where a unique key of the row is taken. */
  insert(row: R): Promise<boolean>;

  /**
   * Inserts a contended row and finds out who won, also where the reply to an earlier try was lost: a row in the store
   * with the own attempt means that this caller won.
   */
  decide(row: R): Promise<InsertOutcome>;

  /** The row with these values of the key's columns. */
  get(...key: readonly (string | number)[]): Promise<R | null>;
  first(where: Where<R>, options?: RangeOptions<R>): Promise<R | null>;
  all(where: Where<R>, options?: RangeOptions<R>): Promise<readonly R[]>;

  /** The same in arrays of at most `size`, between which others are served; rows that go meanwhile may be missing. */
  batches(where: Where<R>, options: RangeOptions<R>, size: number): AsyncIterable<readonly R[]>;

  /** Writes a whole row, whether or not there was one. Never for what is raced for. */
  replace(row: R): Promise<void>;

  /** Sets members of the row with the key of `row`, if there is one that fits `only` too. Decides nothing. */
  set(row: Partial<R>, members: Partial<R>, only?: Where<R>): Promise<void>;

  /** Resolves to the number of rows removed, which decides nothing either. */
  remove(where: Where<R>): Promise<number>;

  /** The same, `size` rows at a time, so that others are served in between. */
  removeInBatches(where: Where<R>, size: number): Promise<number>;
};

export type RowOf<Spec> = Spec extends TableSpec<infer R> ? Readonly<R> : never;
export type TablesOf<Specs> = { readonly [Name in keyof Specs]: Table<RowOf<Specs[Name]>> };

export function openTables<Specs extends Readonly<Record<string, AnyTableSpec>>>(
  specs: Specs,
  open: (spec: AnyTableSpec) => Table<AnyRow>,
): TablesOf<Specs> {
  const tables = Object.entries(specs).map(([name, spec]) => [name, open(spec)]);
  // A table that was opened with a specification holds rows of that specification.
  return Object.fromEntries(tables) as TablesOf<Specs>;
}

const OPERATORS = ['from', 'after', 'upTo', 'before', 'not', 'in'] as const;

export type Operator = 'equal' | (typeof OPERATORS)[number];

/** One comparison of a column with a value; with a list of values for `in`. */
export type Comparison = {
  readonly column: string;
  readonly operator: Operator;
  readonly value: unknown;
};

/** All comparisons that a row has to pass. */
export function toComparisons(where: Where<AnyRow>): readonly Comparison[] {
  const comparisons: Comparison[] = [];
  for (const [column, condition] of Object.entries(where)) {
    if (condition === null || typeof condition !== 'object') {
      if (condition !== undefined)
        comparisons.push({ column, operator: 'equal', value: condition });
      continue;
    }
    const given: readonly [string, unknown][] = Object.entries(condition);
    for (const operator of OPERATORS) {
      const value = given.find(([name]) => name === operator)?.[1];
      if (value !== undefined) comparisons.push({ column, operator, value });
    }
  }
  return comparisons;
}

/** Scans by time, and by id where two ended in one millisecond: every instance must say the same. */
export function byScan(way: 'asc' | 'desc') {
  return [
    ['scannedAtMs', way],
    ['scanId', way],
  ] as const;
}

/** A random wait before the next number is tried after a lost one; it keeps racers apart. */
export async function jitter(): Promise<void> {
  await delay(Math.random() * LONGEST_JITTER_MS);
}

/** One string for several parts; different parts never make the same string. */
export function joinId(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
