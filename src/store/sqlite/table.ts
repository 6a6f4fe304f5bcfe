import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Owner } from '../contract/owner.ts';
import { StoreError } from '../contract/store-error.ts';
import { comparisonsOf, type Operator } from '../shared/conditions.ts';
import type {
  ColumnType,
  RangeOptions,
  Table,
  TableShape,
  TableSpec,
  Where,
} from '../shared/table.ts';
import { type Connection, LIMIT } from './connection.ts';

const OPERATORS: Readonly<Record<Operator, string>> = {
  equal: '= ?',
  not: 'IS NOT ?',
  from: '>= ?',
  after: '> ?',
  upTo: '<= ?',
  before: '< ?',
  in: 'IN (SELECT value FROM json_each(?))',
};

/** An owner's two texts stand in columns that end so. */
export const OWNER_PARTS = ['Host', 'Boot'] as const;

/** Names of columns come from the specifications alone; what a caller gives travels as parameters. */
export function sqliteTable<R extends object>(
  connection: Connection,
  spec: TableSpec<R>,
): Table<R> {
  const name = quoted(spec.name);
  const columns = flatColumns(spec);
  const insertion = `INSERT INTO ${name} (${columns.map(quoted).join(', ')})
    VALUES (${columns.map(() => '?').join(', ')})`;
  const others = columns.filter((column) => !spec.key.some((key) => key === column));
  const replacement = `${insertion} ON CONFLICT (${spec.key.map(quoted).join(', ')}) DO UPDATE SET
    ${others.map((column) => `${quoted(column)} = excluded.${quoted(column)}`).join(', ')}`;

  function tryInsert(row: R): boolean {
    return write(row, `${insertion} ON CONFLICT DO NOTHING`, flat(row)) > 0;
  }

  function write(row: R | null, sql: string, values: readonly SQLInputValue[]): number {
    const writing = () => connection.run(sql, ...values);
    // Of rows that are changed or removed, as of all of their table.
    const isPassing = row === null ? spec.passing !== undefined : (spec.passing?.(row) ?? false);
    return isPassing ? connection.passing(writing) : writing();
  }

  function select(what: string, where: Where<R>, { order = [], limit }: RangeOptions<R>) {
    const { sql, values } = whereSql(where);
    const by = order.map(([column, way]) => `${quoted(column)} ${way === 'asc' ? 'ASC' : 'DESC'}`);
    const orderBy = by.length > 0 ? ` ORDER BY ${by.join(', ')}` : '';
    const text = `SELECT ${what} FROM ${name} WHERE ${sql}${orderBy}`;
    if (limit === undefined) return connection.rows(text, ...values);
    return connection.rows(`${text} ${LIMIT}`, ...values, limit);
  }

  function read(where: Where<R>, options: RangeOptions<R>): readonly R[] {
    return select('*', where, options).map((row) => rowOf(spec, row));
  }

  function flat(row: Partial<R>, names = Object.keys(spec.columns)): SQLInputValue[] {
    return flatValues(spec, row, names);
  }

  function keyOf(row: Partial<R>): Where<R> {
    const key: { [Column in keyof R]?: R[Column] } = {};
    for (const column of spec.key) key[column] = row[column];
    return key;
  }

  /** The row that holds a unique key of this one. */
  function holderOf(row: R): R | undefined {
    for (const unique of [spec.key, ...(spec.unique ?? [])]) {
      const where: { [Column in keyof R]?: R[Column] } = {};
      for (const column of unique) where[column] = row[column];
      const [held] = read(where, { limit: 1 });
      if (held !== undefined) return held;
    }
    return undefined;
  }

  const table: Table<R> = {
    async insert(row) {
      return tryInsert(row);
    },

    async decide(row) {
      if (tryInsert(row)) return 'won';
      return attemptOf(holderOf(row)) === attemptOf(row) ? 'won' : 'lost';
    },

    async get(...key) {
      const conditions = spec.key.map((column) => `${quoted(column)} = ?`).join(' AND ');
      const [row] = connection.rows(`SELECT * FROM ${name} WHERE ${conditions}`, ...key);
      return row === undefined ? null : rowOf(spec, row);
    },

    async first(where, options = {}) {
      return read(where, { ...options, limit: 1 })[0] ?? null;
    },

    async all(where, options = {}) {
      return read(where, options);
    },

    async *batches(where, options, size) {
      const ids = select('rowid AS id', where, options).map(({ id }) => id);
      for (let at = 0; at < ids.length; at += size) {
        const rows = connection.rows(
          `SELECT ${name}.* FROM json_each(?) AS wanted
             CROSS JOIN ${name} ON ${name}.rowid = wanted.value ORDER BY wanted.key`,
          JSON.stringify(ids.slice(at, at + size)),
        );
        yield rows.map((row) => rowOf(spec, row));
        await nextTurn();
      }
    },

    async replace(row) {
      write(row, replacement, flat(row));
    },

    async set(row, members, only = {}) {
      const { sql, values } = whereSql({ ...only, ...keyOf(row) });
      const set = Object.keys(members).flatMap((column) => flatNames(spec, column));
      const sets = set.map((column) => `${quoted(column)} = ?`).join(', ');
      const given = [...flat(members, Object.keys(members)), ...values];
      write(null, `UPDATE ${name} SET ${sets} WHERE ${sql}`, given);
    },

    async remove(where) {
      const { sql, values } = whereSql(where);
      return write(null, `DELETE FROM ${name} WHERE ${sql}`, values);
    },

    async removeInBatches(where, size) {
      const { sql, values } = whereSql(where);
      const text = `DELETE FROM ${name} WHERE rowid IN (
        SELECT rowid FROM ${name} WHERE ${sql} ${LIMIT})`;
      for (let total = 0; ; ) {
        const removed = connection.run(text, ...values, size);
        total += removed;
        if (removed < size) return total;
        await nextTurn();
      }
    },
  };
  return table;
}

/** Names of the columns of a table, those of owners taken apart. */
export function flatColumns(spec: TableShape): readonly string[] {
  return Object.keys(spec.columns).flatMap((column) => flatNames(spec, column));
}

function flatNames(spec: TableShape, column: string): readonly string[] {
  return typeOf(spec, column) === 'owner'
    ? OWNER_PARTS.map((part) => `${column}${part}`)
    : [column];
}

export function typeOf(spec: TableShape, column: string): ColumnType {
  const type = spec.columns[column];
  if (type === undefined) throw new TypeError(`${spec.name} has no column ${column}`);
  return type;
}

function flatValues<R extends object>(
  spec: TableSpec<R>,
  row: Partial<R>,
  names: readonly string[],
): SQLInputValue[] {
  const members: Readonly<Record<string, unknown>> = { ...row };
  return names.flatMap((column) => {
    const value = members[column];
    if (typeOf(spec, column) !== 'owner') return [toSql(value)];
    // `Rows` says that a column of this type holds an owner.
    const { host, boot } = value as Owner;
    return [host, boot];
  });
}

function toSql(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`a ${typeof value} is no value of a table`);
}

function whereSql<R>(where: Where<R>): {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
} {
  const comparisons = comparisonsOf(where);
  const conditions = comparisons.map(({ column, operator, value }) => {
    const isNull = operator === 'equal' && value === null;
    return `${quoted(column)} ${isNull ? 'IS ?' : OPERATORS[operator]}`;
  });
  return {
    sql: conditions.length === 0 ? 'TRUE' : conditions.join(' AND '),
    values: comparisons.map(({ operator, value }) =>
      operator === 'in' ? JSON.stringify(value) : toSql(value),
    ),
  };
}

export function rowOf<R extends object>(
  spec: TableSpec<R>,
  row: Readonly<Record<string, SQLOutputValue>>,
): R {
  const members: Record<string, unknown> = {};
  for (const column of Object.keys(spec.columns)) {
    const type = typeOf(spec, column);
    if (type === 'owner') {
      const [host, boot] = OWNER_PARTS.map((part) => row[`${column}${part}`]);
      members[column] = { host, boot };
      continue;
    }
    const value = row[column];
    if (!isOf(type, value)) {
      const message = `column ${column} of ${spec.name} holds no ${type}; restore the store from a backup`;
      throw new StoreError('corrupt', message);
    }
    members[column] = type === 'boolean' ? value === 1 : value;
  }
  // Every column was checked against its type.
  return members as R;
}

function isOf(type: ColumnType, value: SQLOutputValue | undefined): boolean {
  if (value === null) return type.endsWith('or null');
  if (type.startsWith('text')) return typeof value === 'string';
  return type.startsWith('bytes') ? value instanceof Uint8Array : typeof value === 'number';
}

function attemptOf(row: object | undefined): unknown {
  return row !== undefined && 'attempt' in row ? row.attempt : undefined;
}

export function quoted(name: string): string {
  return `"${name}"`;
}
