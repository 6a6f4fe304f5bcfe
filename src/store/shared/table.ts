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

export type ColumnType =
  | 'text'
  | 'integer'
  | 'boolean'
  | 'bytes'
  /** Stored as two texts where an engine has flat rows. */
  | 'owner'
  | 'text or null'
  | 'integer or null'
  | 'bytes or null';

/** What makes the schema of a table, whatever its rows are. */
export type TableShape = {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly key: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly indexes?: readonly (readonly string[])[];
};

export type TableSpec<R> = {
  readonly name: string;
  readonly columns: { readonly [Column in keyof R]-?: ColumnType };
  /** The columns that name a row. */
  readonly key: readonly (keyof R & string)[];
  /** Further columns that no two rows may have alike. */
  readonly unique?: readonly (readonly (keyof R & string)[])[];
  /** What rows are looked for by. */
  readonly indexes?: readonly (readonly (keyof R & string)[])[];
  /**
   * Rows that need not outlive a loss of power by themselves: they stand for work of their writer, or another row that
   * does outlive it is written after them, and all before it with it. Default: none.
   */
  readonly passing?: (row: R) => boolean;
};

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

  /** Sets members of the row with the key of `row`, if there is one that fits `only` too. */
  set(row: Partial<R>, members: Partial<R>, only?: Where<R>): Promise<void>;

  /** How many rows were removed. */
  remove(where: Where<R>): Promise<number>;

  /** The same, `size` rows at a time, so that others are served in between. */
  removeInBatches(where: Where<R>, size: number): Promise<number>;
};

/** A random wait before the next number is tried after a lost one; it keeps racers apart. */
export async function jitter(): Promise<void> {
  await delay(Math.random() * LONGEST_JITTER_MS);
}

/** One string for several parts; different parts never make the same string. */
export function idOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
