import type { Column, TableSpec } from './table.ts';

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
export function table<R>(spec: TableSpec<R>): TableSpec<R> {
  return spec;
}
