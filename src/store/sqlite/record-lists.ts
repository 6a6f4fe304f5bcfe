import type { SQLInputValue } from 'node:sqlite';
import type { DirectoryQuery } from '../contract/directory.ts';
import { verifiedSinceMs } from '../contract/ownership.ts';
import type { Connection } from './connection.ts';
import { RECORD_COLUMNS } from './record-sql.ts';
import type { Row } from './row.ts';

/** Matches of a search that are read and sorted at once; of more, one page is looked for in the index of the order. */
const FEW_MATCHES = 1_000;

const ORDERS = {
  recent: 'r.scanned_at_ms DESC, r.host',
  grade: 'r.grade, r.score DESC, r.scanned_at_ms DESC, r.host',
} as const;

/** Which records `r` are looked at, by which index or from which other table on. */
export type Selection = {
  readonly from: string;
  readonly conditions: readonly string[];
  readonly values: readonly SQLInputValue[];
};

type FoundRecords = { readonly count: number; readonly rows: readonly Row[] };

/** Ids, as JSON, of records whose owners opted out: read anew for each list, so that a wish holds at once. */
export function hiddenRecords(connection: Connection): string {
  const rows = connection.all(
    `SELECT records.id FROM listing CROSS JOIN records ON records.host = listing.host
     WHERE listing.setting = 'listed' AND listing.value = 0`,
  );
  return JSON.stringify(rows.map((row) => row.integer('id')));
}

/** @param query `q` as hosts are spelt; empty: all */
export function listRecords(
  connection: Connection,
  query: DirectoryQuery & { readonly q: string },
  nowMs: number,
): FoundRecords {
  const hidden = hiddenRecords(connection);
  const selection = selectionOf(query);
  // Verified hosts are few and are looked up by name.
  const from = 'confirms c CROSS JOIN records r ON r.host = c.host';
  const verified = {
    from,
    conditions: ['c.at_ms > ?', ...selection.conditions],
    values: [verifiedSinceMs(nowMs), ...selection.values],
  };
  if (query.q !== '' || query.verified) {
    const few = fewMatches(connection, query.verified ? verified : selection, query, hidden);
    if (few !== null) return few;
  }
  if (query.verified) {
    const count = connection.get(countStatement(visible(verified)), ...verified.values, hidden);
    return {
      count: count?.integer('count') ?? 0,
      rows: pageOf(connection, verified, query, hidden),
    };
  }
  const count = countRecords(connection, selection, hidden);
  return { count, rows: pageOf(connection, inOrder(selection, query), query, hidden) };
}

/** All, less the hidden ones among them: to leave those out one by one makes a count ten times as long. */
export function countRecords(connection: Connection, selection: Selection, hidden: string): number {
  const { conditions, values } = selection;
  const all = connection.get(countStatement(selection), ...values);
  const from = 'json_each(?) AS hidden CROSS JOIN records r ON r.id = hidden.value';
  const taken = connection.get(countStatement({ from, conditions }), hidden, ...values);
  return (all?.integer('count') ?? 0) - (taken?.integer('count') ?? 0);
}

export function selectionOf({
  category,
  q,
}: Pick<DirectoryQuery, 'category'> & { readonly q: string }): Selection {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  if (category !== undefined) {
    conditions.push('r.category = ?');
    values.push(category);
  }
  if (q !== '') {
    conditions.push('instr(r.host, ?) > 0');
    values.push(q);
  }
  const index = category === undefined ? 'records_recent' : 'records_category';
  return { from: `records r INDEXED BY ${index}`, conditions, values };
}

/** The index that holds the rows in the order that is asked for. */
export function inOrder(selection: Selection, { sort }: Pick<DirectoryQuery, 'sort'>): Selection {
  if (sort === 'recent') return selection;
  return { ...selection, from: 'records r INDEXED BY records_grade' };
}

/** Every match is found in one walk; null: there are too many to sort. */
function fewMatches(
  connection: Connection,
  selection: Selection,
  query: DirectoryQuery,
  hidden: string,
): FoundRecords | null {
  const found = connection.all(
    `SELECT r.id FROM ${selection.from} ${where(visible(selection))} LIMIT ?`,
    ...selection.values,
    hidden,
    FEW_MATCHES + 1,
  );
  if (found.length > FEW_MATCHES) return null;
  const values = [JSON.stringify(found.map((row) => row.integer('id')))];
  const matches = { from: 'records r', conditions: [AMONG], values };
  const rows = pageOf(connection, matches, query, hidden);
  return { count: found.length, rows };
}

function pageOf(
  connection: Connection,
  selection: Selection,
  { sort, page, pageSize }: DirectoryQuery,
  hidden: string,
): readonly Row[] {
  const sql = pageStatement(selection, sort);
  return connection.all(sql, ...selection.values, hidden, pageSize, page * pageSize);
}

const AMONG = 'r.id IN (SELECT value FROM json_each(?))';

/** Without a condition SQLite takes the number of rows from the pages of an index, and reads none. */
export function countStatement(selection: Pick<Selection, 'from' | 'conditions'>): string {
  return `SELECT count(*) AS count FROM ${selection.from} ${where(selection)}`;
}

/** The inner query walks or sorts ids alone; rows are read for the page only. */
export function pageStatement(selection: Selection, sort: DirectoryQuery['sort']): string {
  return `SELECT ${RECORD_COLUMNS} FROM (
      SELECT r.id AS found FROM ${selection.from} ${where(visible(selection))}
      ORDER BY ${ORDERS[sort]} LIMIT ? OFFSET ?)
    CROSS JOIN records r ON r.id = found ORDER BY ${ORDERS[sort]}`;
}

/** The ids that are hidden are the last of its values. */
function visible<S extends Pick<Selection, 'conditions'>>(selection: S): S {
  return { ...selection, conditions: [...selection.conditions, `NOT ${AMONG}`] };
}

function where({ conditions }: Pick<Selection, 'conditions'>): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}
