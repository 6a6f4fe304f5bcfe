import type { AnyTableSpec } from '../shared/table.ts';
import { TABLES } from '../shared/tables.ts';
import { flatColumns, quoted } from './table.ts';

const TYPES = {
  text: 'TEXT',
  integer: 'INTEGER',
  boolean: 'INTEGER',
  bytes: 'BLOB',
  object: 'TEXT',
} as const;

/**
 * The indexes that lists walk: each holds everything that its list is filtered by and counted from, so that skipped hosts
 * cost no look-up of their row.
 */
const RECORD_INDEXES = `
  CREATE INDEX IF NOT EXISTS records_by_time
    ON records ("scannedAtMs" DESC, host, category, grade);
  CREATE INDEX IF NOT EXISTS records_by_grade
    ON records (grade, score DESC, "scannedAtMs" DESC, host, category);
  CREATE INDEX IF NOT EXISTS records_by_category
    ON records (category, "scannedAtMs" DESC, host);
  CREATE INDEX IF NOT EXISTS records_never_reached ON records (reached) WHERE reached = 0;`;

/** Every table of the specifications that is not there yet, and the indexes of lists. */
export function createTables(): string {
  return `${Object.values(TABLES).map(createTable).join('\n')}${RECORD_INDEXES}`;
}

function createTable(spec: AnyTableSpec): string {
  const name = quoted(spec.name);
  const columns = flatColumns(spec).map((column) => {
    const type = TYPES[column.kind];
    return `${quoted(column.name)} ${type}${column.isNullable ? '' : ' NOT NULL'}`;
  });
  const uniques = (spec.unique ?? []).map((key) => `UNIQUE (${list(key)})`);
  const indexes = (spec.indexes ?? []).map((key) => {
    const index = quoted(`${spec.name} ${key.join(' ')}`);
    return `CREATE INDEX IF NOT EXISTS ${index} ON ${name} (${list(key)});`;
  });
  const parts = [...columns, `PRIMARY KEY (${list(spec.key)})`, ...uniques];
  return `CREATE TABLE IF NOT EXISTS ${name} (${parts.join(', ')}) STRICT;\n${indexes.join('\n')}`;
}

function list(columns: readonly string[]): string {
  return columns.map(quoted).join(', ');
}
