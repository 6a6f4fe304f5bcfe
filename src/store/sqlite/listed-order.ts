/** The orders of listed hosts, as SQL that walks one index and sorts nothing. */
import type { SQLInputValue } from 'node:sqlite';
import type { DirectoryQuery } from '../contract/directory.ts';
import { verifiedSinceMs } from '../contract/ownership.ts';
import type { OrderKey } from './page-ends.ts';

/** Ascending; `recency` and `rank` are negative times and scores. */
const COLUMNS = {
  recent: ['recency', 'host'],
  grade: ['grade', 'rank', 'recency', 'host'],
} as const;

export type ListedOrder = {
  readonly columns: readonly string[];
  /** `listed INDEXED BY …`: the index holds all that `where` looks at. */
  readonly from: string;
  /** Conditions for `values`; what a caller sent is in the values alone. */
  readonly where: string;
  readonly values: readonly SQLInputValue[];
};

export function listedOrder(
  { sort, category, verified }: Pick<DirectoryQuery, 'sort' | 'category' | 'verified'>,
  nowMs: number,
): ListedOrder {
  const index = ['listed'];
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  if (verified) {
    index.push('proved');
    conditions.push('confirmed_at_ms > ?');
    values.push(verifiedSinceMs(nowMs));
  }
  if (category !== undefined) {
    index.push('category');
    conditions.push('category = ?');
    values.push(category);
  }
  index.push(sort);
  return {
    columns: COLUMNS[sort],
    from: `listed INDEXED BY ${index.join('_')}`,
    where: conditions.length === 0 ? 'TRUE' : conditions.join(' AND '),
    values,
  };
}

/** "recency DESC, host DESC" of the order read from its end. */
export function orderBy({ columns }: ListedOrder, isReverse: boolean): string {
  return columns.map((column) => `${column} ${isReverse ? 'DESC' : 'ASC'}`).join(', ');
}

/** A condition that leaves the hosts on one side of a place; null: all of them. */
export function orderedBeyond(
  { columns }: ListedOrder,
  key: OrderKey | null,
  comparison: '<' | '>' | '<=' | '>=',
): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  if (key === null) return { sql: '', values: [] };
  return {
    sql: `AND (${columns.join(', ')}) ${comparison} (${columns.map(() => '?').join(', ')})`,
    values: columns.map((column) => key[column] ?? null),
  };
}
