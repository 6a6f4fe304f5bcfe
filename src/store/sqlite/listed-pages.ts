/** One page of listed hosts, found by walking an index from whichever end is nearer. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { type ListedOrder, orderBy, orderedBeyond } from './listed-order.ts';
import type { OrderKey } from './page-ends.ts';
import type { Row } from './row.ts';

/** Of the largest slice: the first page is mostly near. */
const FIRST_SLICE = 1 / 16;

export type PageRange = { readonly offset: number; readonly size: number };

/** Which rows to read from which end, of `count` in all. */
export type Reach = {
  readonly skip: number;
  readonly take: number;
  readonly isReverse: boolean;
};

export function reachOf({ offset, size }: PageRange, count: number): Reach {
  const take = Math.max(0, Math.min(size, count - offset));
  const skipFromEnd = count - offset - take;
  const isReverse = take > 0 && skipFromEnd < offset;
  return { take, isReverse, skip: isReverse ? skipFromEnd : offset };
}

/**
 * Ids of hosts with a substring, in slices: matches may be far apart. Skipping a row costs some 25 ns.
 * @param maxRows those after which it gives up, with null; null: never
 */
export async function pageOfMatches(
  { connection, search }: Pick<SqliteContext, 'connection' | 'search'>,
  order: ListedOrder,
  q: string,
  reach: Reach,
  maxRows: number | null,
): Promise<number[] | null> {
  const { take, isReverse } = reach;
  const ids: number[] = [];
  let { skip } = reach;
  let after: OrderKey | null = null;
  let walked = 0;
  let size = Math.ceil(search.slice * FIRST_SLICE);
  for (; ids.length < take; size = Math.min(size * 2, search.slice)) {
    if (maxRows !== null && walked > maxRows) return null;
    walked += size;
    const slice: Slice = { order, q, after, size, isReverse };
    const end = lastOf(connection, slice);
    const matches = skip > 0 ? countWithin(connection, slice) : 0;
    if (skip === 0 || matches > skip) {
      ids.push(...idsWithin(connection, slice, end, { skip, take: take - ids.length }));
      skip = 0;
    } else skip -= matches;
    if (end === null) break;
    after = end;
    if (ids.length < take) await nextTurn();
  }
  return inOrder(ids, isReverse);
}

/** `size` rows of an order, matches and others. */
type Slice = {
  readonly order: ListedOrder;
  readonly q: string;
  /** Exclusive; null: from the beginning. */
  readonly after: OrderKey | null;
  readonly size: number;
  readonly isReverse: boolean;
};

/** Null where the order ends before the slice is full. */
function lastOf(connection: Connection, slice: Slice): OrderKey | null {
  const rows = rowsFrom(slice);
  const columns = slice.order.columns.join(', ');
  const sql = `SELECT ${columns} ${rows.sql} LIMIT 1 OFFSET ?`;
  const last = connection.get(sql, ...rows.values, slice.size - 1);
  return last && Object.fromEntries(slice.order.columns.map((name) => [name, last.value(name)]));
}

function countWithin(connection: Connection, slice: Slice): number {
  const rows = rowsFrom(slice);
  const row = connection.get(
    `SELECT count(*) AS count FROM (SELECT host ${rows.sql} LIMIT ?) WHERE instr(host, ?) > 0`,
    ...rows.values,
    slice.size,
    slice.q,
  );
  return row?.integer('count') ?? 0;
}

function idsWithin(
  connection: Connection,
  slice: Slice,
  end: OrderKey | null,
  { skip, take }: Pick<Reach, 'skip' | 'take'>,
): readonly number[] {
  const upTo = orderedBeyond(slice.order, end, slice.isReverse ? '>=' : '<=');
  const rows = rowsFrom(slice, `${upTo.sql} AND instr(host, ?) > 0`);
  const values = [...rows.values, ...upTo.values, slice.q];
  return connection.all(`SELECT id ${rows.sql} LIMIT ? OFFSET ?`, ...values, take, skip).map(idOf);
}

/** What follows the columns; the values of `more` come behind those that are here. */
function rowsFrom({ order, after, isReverse }: Slice, more = '') {
  const beyond = orderedBeyond(order, after, isReverse ? '<' : '>');
  return {
    sql: `FROM ${order.from} WHERE ${order.where} ${beyond.sql} ${more}
      ORDER BY ${orderBy(order, isReverse)}`,
    values: [...order.values, ...beyond.values],
  };
}

function idOf(row: Row): number {
  return row.integer('id');
}

function inOrder(ids: number[], isReverse: boolean): number[] {
  return isReverse ? ids.reverse() : ids;
}
