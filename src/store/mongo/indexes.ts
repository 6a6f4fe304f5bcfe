import type { IndexDescription } from 'mongodb';
import type { AnyTableSpec } from '../shared/table.ts';
import { TABLES } from '../shared/tables.ts';
import { OWN_TABLES } from './own-tables.ts';
import { idColumn } from './table.ts';

/** Lists of the directory are found by these. */
const LISTS: readonly IndexDescription['key'][] = [
  { scannedAtMs: -1, _id: 1 },
  { grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
  { grade: 1, scannedAtMs: -1, _id: 1 },
  { category: 1, scannedAtMs: -1, _id: 1 },
  { category: 1, grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
];

/**
 * Every collection with its indexes beside `_id`. None of them expires rows or covers a part of
 * them only: servers that merely speak MongoDB's protocol refuse those.
 */
export function listIndexes(): ReadonlyMap<string, readonly IndexDescription[]> {
  const specs: readonly AnyTableSpec[] = Object.values({ ...TABLES, ...OWN_TABLES });
  return new Map(specs.map((spec) => [spec.name, tableIndexes(spec)]));
}

function tableIndexes(spec: AnyTableSpec): IndexDescription[] {
  const { name, key, unique = [], indexes = [] } = spec;
  // A key that is not one text is read in its order, and by the first of its columns.
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
