import { StoreError } from '../errors.ts';
import type { AnyTableSpec } from '../table.ts';
import { TABLES } from '../tables.ts';
import type { Connection } from './connection.ts';
import { type FlatColumn, flatColumns, quoted } from './table.ts';

/** `user_version` of a store. A new table, column or index needs no new one: every start creates the missing ones. */
const VERSION = 13;

const SPECS: readonly AnyTableSpec[] = Object.values(TABLES);

const TYPES = {
  text: 'TEXT',
  integer: 'INTEGER',
  boolean: 'INTEGER',
  bytes: 'BLOB',
  object: 'TEXT',
} as const;

/**
 * Covering indexes of the lists: each has every column that its list filters and counts by, so that a skipped host
 * costs no look-up of its row.
 */
const RECORD_INDEXES = `
  CREATE INDEX IF NOT EXISTS records_by_time
    ON records ("scannedAtMs" DESC, host, category, grade, "payableUntilMs", "payableWeekDays");
  CREATE INDEX IF NOT EXISTS records_by_grade
    ON records (grade, score DESC, "scannedAtMs" DESC, host, category, "payableUntilMs",
      "payableWeekDays");
  CREATE INDEX IF NOT EXISTS records_by_category
    ON records (category, "scannedAtMs" DESC, host, "payableUntilMs", "payableWeekDays");
  CREATE INDEX IF NOT EXISTS records_never_reached ON records (reached) WHERE reached = 0;`;

/**
 * Makes what is missing, in one transaction, so that a start that was killed can be repeated, and a new file
 * is synced once.
 * @throws StoreError `incompatible` if another program wrote the file, or another version of this one
 */
export function openSchema(connection: Connection): void {
  const isNew =
    readVersion(connection) === 0 && connection.value('SELECT 1 FROM sqlite_schema') === null;
  if (!isNew) requireVersion(connection);
  connection.transaction(() => {
    addColumns(connection);
    connection.exec(`${SPECS.map(createTable).join('\n')}${RECORD_INDEXES}`);
    if (isNew) connection.exec(`PRAGMA user_version = ${VERSION}`);
  });
}

/** @throws StoreError `incompatible` if this program cannot use the file */
export function requireVersion(connection: Connection): void {
  const version = readVersion(connection);
  if (version === VERSION) return;
  const advice =
    version > VERSION
      ? 'run the newer program, or give this one its own STORE_URL'
      : 'give this program its own STORE_URL';
  const message = `the store ${connection.location} has schema ${version}, this program knows ${VERSION}: ${advice}`;
  throw new StoreError('incompatible', message);
}

function readVersion(connection: Connection): number {
  return Number(connection.value('PRAGMA user_version'));
}

/**
 * Adds the columns that tables of older programs lack, before indexes over them are made. Their rows have no value
 * for them, so they must allow null.
 */
function addColumns(connection: Connection): void {
  for (const spec of SPECS) {
    const columns = connection.values('SELECT name FROM pragma_table_info(?)', spec.name);
    const isMissing = columns.length === 0;
    for (const column of flatColumns(spec)) {
      if (isMissing || columns.includes(column.name)) continue;
      connection.exec(`ALTER TABLE ${quoted(spec.name)} ADD COLUMN ${columnSql(column)}`);
    }
  }
}

function createTable(spec: AnyTableSpec): string {
  const name = quoted(spec.name);
  const columns = flatColumns(spec).map(columnSql);
  const uniques = (spec.unique ?? []).map((key) => `UNIQUE (${list(key)})`);
  const indexes = (spec.indexes ?? []).map((key) => {
    const index = quoted(`${spec.name} ${key.join(' ')}`);
    return `CREATE INDEX IF NOT EXISTS ${index} ON ${name} (${list(key)});`;
  });
  const parts = [...columns, `PRIMARY KEY (${list(spec.key)})`, ...uniques];
  return `CREATE TABLE IF NOT EXISTS ${name} (${parts.join(', ')}) STRICT;\n${indexes.join('\n')}`;
}

function columnSql({ name, kind, isNullable }: FlatColumn): string {
  return `${quoted(name)} ${TYPES[kind]}${isNullable ? '' : ' NOT NULL'}`;
}

function list(columns: readonly string[]): string {
  return columns.map(quoted).join(', ');
}
