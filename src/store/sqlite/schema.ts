import type { ColumnType, TableShape } from '../shared/table.ts';
import { TABLES } from '../shared/tables.ts';
import { flatColumns, OWNER_PARTS, quoted, typeOf } from './table.ts';

const TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'TEXT NOT NULL',
  integer: 'INTEGER NOT NULL',
  boolean: 'INTEGER NOT NULL',
  bytes: 'BLOB NOT NULL',
  owner: 'TEXT NOT NULL',
  'text or null': 'TEXT',
  'integer or null': 'INTEGER',
  'bytes or null': 'BLOB',
};

/**
 * The indexes that lists walk: each holds everything that its list is filtered by and counted from, so that skipped hosts
 * cost no look-up of their row.
 */
const RECORD_INDEXES = `
  CREATE INDEX records_by_time ON records ("scannedAtMs" DESC, host, category, grade);
  CREATE INDEX records_by_grade
    ON records (grade, score DESC, "scannedAtMs" DESC, host, category);
  CREATE INDEX records_by_category ON records (category, "scannedAtMs" DESC, host);
  CREATE INDEX records_never_reached ON records (reached) WHERE reached = 0;`;

/** Every table of the specifications, and the indexes of lists. */
export function createTables(): string {
  return `${Object.values(TABLES).map(createTable).join('\n')}${RECORD_INDEXES}`;
}

function createTable(spec: TableShape): string {
  const columns = flatColumns(spec).map(
    (column) => `${quoted(column)} ${TYPES[flatType(spec, column)]}`,
  );
  const uniques = [spec.key, ...(spec.unique ?? [])].map(
    (key, index) => `${index === 0 ? 'PRIMARY KEY' : 'UNIQUE'} (${list(key)})`,
  );
  const indexes = (spec.indexes ?? []).map(
    (key) =>
      `CREATE INDEX ${quoted(`${spec.name} ${key.join(' ')}`)} ON ${quoted(spec.name)} (${list(key)});`,
  );
  return `CREATE TABLE ${quoted(spec.name)} (${[...columns, ...uniques].join(', ')}) STRICT;\n${indexes.join('\n')}`;
}

function flatType(spec: TableShape, column: string): ColumnType {
  const isPart = OWNER_PARTS.some((part) => column.endsWith(part) && !(column in spec.columns));
  return isPart ? 'owner' : typeOf(spec, column);
}

function list(columns: readonly string[]): string {
  return columns.map(quoted).join(', ');
}
