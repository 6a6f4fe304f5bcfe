import type { IndexDescription } from 'mongodb';
import type { AnyTableSpec } from '../shared/table.ts';
import { TABLES } from '../shared/tables.ts';
import { OWN_TABLES } from './own-tables.ts';
import { idColumn } from './table.ts';

/** Indexes that the lists of the directory read. */
const LISTS: readonly IndexDescription['key'][] = [
  { scannedAtMs: -1, _id: 1 },
  { grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
  { grade: 1, scannedAtMs: -1, _id: 1 },
  { category: 1, scannedAtMs: -1, _id: 1 },
  { category: 1, grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
];

/**
 * Lists every collection with its indexes beside `_id`. None is a TTL or a partial index, because servers
 * that merely speak MongoDB's protocol refuse those.
 */
export function listIndexes(): ReadonlyMap<string, readonly IndexDescription[]> {
  const specs: readonly AnyTableSpec[] = Object.values({ ...TABLES, ...OWN_TABLES });
  return new Map(specs.map((spec) => [spec.name, tableIndexes(spec)]));
}

function tableIndexes(spec: AnyTableSpec): IndexDescription[] {
  const { name, key, unique = [], indexes = [] } = spec;
  // A key that is not a single text needs an index: rows are read in its order, and by its first column.
  const read = idColumn(spec) === null ? [key, ...indexes] : indexes;
  return [
    ...unique.map((columns) => ({ key: ascending(columns), unique: true })),
    ...read.map((columns) => ({ key: ascending(columns) })),
    ...(name === TABLES.records.name ? LISTS.map((key) => ({ key })) : []),
  ];
}

function ascending(columns: readonly string[]): Readonly<Record<string, 1>> {
  return Object.fromEntries(columns.map((column) => [column, 1 as const]));
}
