import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreError } from '../store-error.ts';
import {
  type AnyRow,
  type AnyTableSpec,
  BATCH_ROWS,
  type Column,
  type EngineTable,
  type Operator,
  pickColumns,
  type RangeOptions,
  toComparisons,
  type Where,
} from '../table.ts';
import { type Connection, LIMIT, type StoredRow } from './database.ts';

const OPERATORS: Readonly<Record<Operator, string>> = {
  equal: '= ?',
  not: 'IS NOT ?',
  from: '>= ?',
  after: '> ?',
  upTo: '<= ?',
  before: '< ?',
  in: 'IN (SELECT value FROM json_each(?))',
  notIn: 'NOT IN (SELECT value FROM json_each(?))',
};

/** A column of an SQLite table. It stores a column of the specification, or one member of an object column. */
export type FlatColumn = Pick<Column, 'kind' | 'isNullable'> & {
  /** Name in SQLite. */
  readonly name: string;
  /** Name in the specification. */
  readonly column: string;
  /** Name of the member of an object column; null for other columns. */
  readonly member: string | null;
};

/** SQL texts contain only names from the specifications. Values of callers are always parameters. */
export function createSqliteTable(connection: Connection, spec: AnyTableSpec): EngineTable {
  const name = quoteName(spec.name);
  const columns = toFlatColumns(spec);
  const keyCondition = spec.key.map((column) => `${quoteName(column)} = ?`).join(' AND ');
  const insertion = `INSERT INTO ${name} (${columns.map((column) => quoteName(column.name)).join(', ')})
    VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`;
  const selectionByKey = `SELECT * FROM ${name} WHERE ${keyCondition}`;

  function write(row: AnyRow | null, sql: string, values: readonly SQLInputValue[]): number {
    // An update or removal has no whole row. It is not synced if the table has rows that need no sync.
    const isUnsynced = row === null ? spec.syncsLater !== undefined : spec.syncsLater?.(row);
    return isUnsynced ? connection.runUnsynced(sql, ...values) : connection.run(sql, ...values);
  }

  function select(columnList: string, where: Where<AnyRow>, options: RangeOptions<AnyRow>) {
    const { order = [], limit } = options;
    const { sql, values } = toConditionSql(where);
    const text = `SELECT ${columnList} FROM ${name} WHERE ${sql}${toOrderSql(order)}`;
    if (limit === undefined) return connection.rows(text, ...values);
    return connection.rows(`${text} ${LIMIT}`, ...values, limit);
  }

  const toRow = (stored: StoredRow) => readRow(spec.name, columns, stored);
  const read = (where: Where<AnyRow>, options: RangeOptions<AnyRow>) =>
    select('*', where, options).map(toRow);

  const readIds = (where: Where<AnyRow>, options: RangeOptions<AnyRow> = {}) =>
    select('rowid AS id', where, options).map(({ id }) => id);

  return {
    async insert(row) {
      return write(row, insertion, toSqlValues(row, columns)) > 0;
    },

    async get(...key) {
      const row = connection.row(selectionByKey, ...key);
      return row && toRow(row);
    },

    async first(where, options = {}) {
      return read(where, { ...options, limit: 1 })[0] ?? null;
    },

    async all(where, options = {}) {
      return read(where, options);
    },

    batches: (where, options) =>
      readBatches(connection, spec.name, columns, readIds(where, options), options?.size),

    batchesOf(where, wanted) {
      const wantedColumns = columns.filter(({ column }) => wanted.includes(column));
      return readBatches(connection, spec.name, wantedColumns, readIds(where));
    },

    async set(row, members, condition = {}) {
      const { sql, values } = toConditionSql({ ...condition, ...pickColumns(row, spec.key) });
      const changedColumns = columns.filter(({ column }) => column in members);
      const assignments = changedColumns
        .map((column) => `${quoteName(column.name)} = ?`)
        .join(', ');
      const parameters = [...toSqlValues(members, changedColumns), ...values];
      write(null, `UPDATE ${name} SET ${assignments} WHERE ${sql}`, parameters);
    },

    async remove(where) {
      const { sql, values } = toConditionSql(where);
      return write(null, `DELETE FROM ${name} WHERE ${sql}`, values);
    },

    async removeInBatches(where) {
      const { sql, values } = toConditionSql(where);
      const text = `DELETE FROM ${name} WHERE rowid IN (
        SELECT rowid FROM ${name} WHERE ${sql} ${LIMIT})`;
      for (let total = 0; ; ) {
        const removedCount = connection.run(text, ...values, BATCH_ROWS);
        total += removedCount;
        if (removedCount < BATCH_ROWS) return total;
        await nextTurn();
      }
    },
  };
}

function toOrderSql(order: NonNullable<RangeOptions<AnyRow>['order']>): string {
  const terms = order.map(
    ([column, direction]) => `${quoteName(column)} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  );
  return terms.length > 0 ? ` ORDER BY ${terms.join(', ')}` : '';
}

/** Other calls are served between the batches. */
async function* readBatches(
  connection: Connection,
  table: string,
  columns: readonly FlatColumn[],
  ids: readonly (SQLOutputValue | undefined)[],
  size = BATCH_ROWS,
): AsyncGenerator<readonly AnyRow[]> {
  const name = quoteName(table);
  const columnList = columns.map((column) => `${name}.${quoteName(column.name)}`).join(', ');
  for (let start = 0; start < ids.length; start += size) {
    const rows = connection.rows(
      `SELECT ${columnList} FROM json_each(?) AS wanted
         CROSS JOIN ${name} ON ${name}.rowid = wanted.value ORDER BY wanted.key`,
      JSON.stringify(ids.slice(start, start + size)),
    );
    yield rows.map((stored) => readRow(table, columns, stored));
    await nextTurn();
  }
}

export function toFlatColumns(spec: AnyTableSpec): readonly FlatColumn[] {
  return Object.entries(spec.columns).flatMap(([column, { kind, isNullable, members }]) => {
    if (members === undefined) return { name: column, column, member: null, kind, isNullable };
    return members.map(
      (member): FlatColumn => ({
        name: `${column}${member.charAt(0).toUpperCase()}${member.slice(1)}`,
        column,
        member,
        kind: 'text',
        isNullable,
      }),
    );
  });
}

function toSqlValues(row: AnyRow, columns: readonly FlatColumn[]): readonly SQLInputValue[] {
  return columns.map(({ column, member }) => {
    if (member === null) return toSqlValue(row[column]);
    const object: AnyRow = { ...(row[column] ?? {}) };
    return toSqlValue(object[member]);
  });
}

function toSqlValue(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`a ${typeof value} is not a value of a table`);
}

function toConditionSql(where: Where<AnyRow>): {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
} {
  const comparisons = toComparisons(where);
  const conditions = comparisons.map(({ column, operator, value }) => {
    const isNull = operator === 'equal' && value === null;
    return `${quoteName(column)} ${isNull ? 'IS ?' : OPERATORS[operator]}`;
  });
  return {
    sql: conditions.length === 0 ? 'TRUE' : conditions.join(' AND '),
    values: comparisons.map(({ operator, value }) =>
      operator === 'in' || operator === 'notIn' ? JSON.stringify(value) : toSqlValue(value),
    ),
  };
}

function readRow(table: string, columns: readonly FlatColumn[], stored: StoredRow): AnyRow {
  const row: Record<string, unknown> = {};
  for (const { name, column, member, kind, isNullable } of columns) {
    const value = stored[name];
    if (!(value === null ? isNullable : isOfKind(kind, value))) {
      const message = `column ${name} of ${table} holds no ${kind}; restore the store from a backup`;
      throw new StoreError('corrupt', message);
    }
    if (member !== null) row[column] = Object.assign(row[column] ?? {}, { [member]: value });
    else row[column] = kind === 'boolean' ? value === 1 : value;
  }
  return row;
}

function isOfKind(kind: Column['kind'], value: SQLOutputValue | undefined): boolean {
  if (kind === 'text') return typeof value === 'string';
  return kind === 'bytes' ? value instanceof Uint8Array : typeof value === 'number';
}

export function quoteName(name: string): string {
  return `"${name}"`;
}
