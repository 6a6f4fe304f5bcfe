import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { EngineContext } from '../context.ts';
import { newInstanceId } from '../payment-tables.ts';
import { createStore, type OpenStoreOptions, type Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { type AnyTableSpec, openTables } from '../table.ts';
import { TABLES, type Tables } from '../tables.ts';
import { Connection, lockProcess, type ProcessLock, toStoreError } from './database.ts';
import { openDirectoryTable } from './directory-table.ts';
import { createSqliteLists } from './record-lists.ts';
import { createSqliteTable, type FlatColumn, quoteName, toFlatColumns } from './table.ts';

/** Path of a store in memory. Its contents are lost when the connection closes. */
export const MEMORY = ':memory:';

export type SqliteOptions = OpenStoreOptions & {
  /** Maximum of 4 KiB pages in the file; writes beyond it are refused as `full`. */
  readonly maxPages?: number | undefined;
};

/**
 * Opens the embedded store, which one process uses. Its write-ahead log (WAL) keeps all completed writes after
 * SIGKILL. A write survives a loss of power once it, or a later one, is synced (see `TableSpec.syncsLater`).
 * @param path a file, whose folder is created if it is missing; or `:memory:`
 * @throws StoreError `locked`, `incompatible`, `unavailable`, `full`, `corrupt`
 */
export function openSqlite(path: string, options: SqliteOptions = {}): Store {
  let lock: ProcessLock | undefined;
  let connection: Connection | undefined;
  try {
    const file = path === MEMORY ? path : prepareFile(path);
    if (file !== MEMORY) lock = lockProcess(file, path);
    connection = new Connection(file, path);
    connection.exec('PRAGMA journal_mode = WAL');
    if (options.maxPages) connection.exec(`PRAGMA max_page_count = ${options.maxPages}`);
    openSchema(connection);
    return assemble(connection, path, options, () => lock?.release());
  } catch (cause) {
    connection?.close();
    lock?.release();
    throw toStoreError(cause, path);
  }
}

function assemble(
  connection: Connection,
  path: string,
  { clock: now = Date.now, owner = newInstanceId() }: SqliteOptions,
  unlock: () => void,
): Store {
  const context: EngineContext = {
    tables: openSqliteTables(connection),
    lists: createSqliteLists(connection, now),
    owner,
    // Only one process uses the file, so all other processes that wrote rows have ended.
    isAlive: async ({ boot }) => boot === owner.boot,
    now,
  };
  return createStore(context, {
    info: { kind: 'sqlite', location: path },
    async ping() {
      connection.value('SELECT EXISTS (SELECT 1 FROM owners)');
    },
    async close() {
      connection.close();
      unlock();
    },
  });
}

export function openSqliteTables(connection: Connection): Tables {
  return openTables(TABLES, (spec) => createSqliteTable(connection, spec));
}

/** Creates the folder of a file and resolves links, so that all paths to the same file use the same lock. */
function prepareFile(path: string): string {
  const file = resolve(path);
  mkdirSync(dirname(file), { recursive: true });
  const canonical = join(realpathSync(dirname(file)), basename(file));
  return existsSync(canonical) ? realpathSync(canonical) : canonical;
}

/** `user_version` of a store. New tables, columns and indexes need no new version, because each start creates them. */
const SCHEMA_VERSION = 13;

const SPECS: readonly AnyTableSpec[] = Object.values(TABLES);

const SQL_TYPES = {
  text: 'TEXT',
  integer: 'INTEGER',
  boolean: 'INTEGER',
  bytes: 'BLOB',
  object: 'TEXT',
} as const;

/**
 * Creates missing tables, columns and indexes in one transaction. A start that was killed can therefore be repeated,
 * and a new file is synced only once.
 * @throws StoreError `incompatible` if another program wrote the file, or another version of this one
 */
export function openSchema(connection: Connection): void {
  const isNew =
    readSchemaVersion(connection) === 0 && connection.value('SELECT 1 FROM sqlite_schema') === null;
  if (!isNew) requireSchemaVersion(connection);
  connection.transaction(() => {
    addColumns(connection);
    connection.exec(SPECS.map(toTableSql).join('\n'));
    openDirectoryTable(connection);
    if (isNew) connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

/** @throws StoreError `incompatible` if this program cannot use the file */
export function requireSchemaVersion(connection: Connection): void {
  const version = readSchemaVersion(connection);
  if (version === SCHEMA_VERSION) return;
  const advice =
    version > SCHEMA_VERSION
      ? 'run the newer program, or give this one its own STORE_URL'
      : 'give this program its own STORE_URL';
  const message = `the store ${connection.location} has schema ${version}, this program knows ${SCHEMA_VERSION}: ${advice}`;
  throw new StoreError('incompatible', message);
}

function readSchemaVersion(connection: Connection): number {
  return Number(connection.value('PRAGMA user_version'));
}

/** Call it before indexes use the columns. Existing rows have no value for a new column, so it must allow null. */
function addColumns(connection: Connection): void {
  for (const spec of SPECS) {
    const columns = connection.values('SELECT name FROM pragma_table_info(?)', spec.name);
    const isNewTable = columns.length === 0;
    for (const column of toFlatColumns(spec)) {
      if (isNewTable || columns.includes(column.name)) continue;
      connection.exec(`ALTER TABLE ${quoteName(spec.name)} ADD COLUMN ${toColumnSql(column)}`);
    }
  }
}

function toTableSql(spec: AnyTableSpec): string {
  const name = quoteName(spec.name);
  const columns = toFlatColumns(spec).map(toColumnSql);
  const uniques = (spec.unique ?? []).map((key) => `UNIQUE (${joinNames(key)})`);
  const indexes = (spec.indexes ?? []).map((key) => {
    const index = quoteName(`${spec.name} ${key.join(' ')}`);
    return `CREATE INDEX IF NOT EXISTS ${index} ON ${name} (${joinNames(key)});`;
  });
  const parts = [...columns, `PRIMARY KEY (${joinNames(spec.key)})`, ...uniques];
  return `CREATE TABLE IF NOT EXISTS ${name} (${parts.join(', ')}) STRICT;\n${indexes.join('\n')}`;
}

function toColumnSql({ name, kind, isNullable }: FlatColumn): string {
  return `${quoteName(name)} ${SQL_TYPES[kind]}${isNullable ? '' : ' NOT NULL'}`;
}

function joinNames(columns: readonly string[]): string {
  return columns.map(quoteName).join(', ');
}
