/** Rows of records as lists show them: what owners want comes from the marks of listed hosts. */
import type { Connection } from './connection.ts';
import { type ListedOrder, orderBy, orderedBeyond } from './listed-order.ts';
import type { Reach } from './listed-pages.ts';
import type { OrderKey } from './page-ends.ts';
import type { Row } from './row.ts';

/** The columns of `toDirectoryRecord`, of a listed host with its record `r` and its marks `m`. */
const COLUMNS = `r.scan, r.first_seen_at_ms, r.scan_count, m.confirmed_at_ms, 1 AS listed,
  m.suppressed IS 1 AS suppressed`;
const RECORD_AND_MARKS = `CROSS JOIN records r ON r.id = found.id
  LEFT JOIN listed_marks m ON m.id = found.id`;

/**
 * One page in one statement: the outer loop walks the order, the inner ones look up by number. Rows
 * of a reverse reach come from the end.
 */
export function recordsOfPage(
  connection: Connection,
  order: ListedOrder,
  { take, skip, isReverse }: Reach,
  after: OrderKey | null,
): readonly Row[] {
  if (take === 0) return [];
  const beyond = orderedBeyond(order, after, isReverse ? '<' : '>');
  const rows = connection.all(
    `SELECT ${COLUMNS} FROM (
       SELECT id FROM ${order.from} WHERE ${order.where} ${beyond.sql}
       ORDER BY ${orderBy(order, isReverse)} LIMIT ? OFFSET ?) AS found ${RECORD_AND_MARKS}`,
    ...order.values,
    ...beyond.values,
    take,
    skip,
  );
  return isReverse ? rows.toReversed() : rows;
}

/** In the order of their ids here, without those that were unlisted since these were found. */
export function recordsOfIds(connection: Connection, ids: readonly number[]): readonly Row[] {
  if (ids.length === 0) return [];
  return connection.all(
    `SELECT ${COLUMNS} FROM json_each(?) AS wanted
       CROSS JOIN listed AS found ON found.id = wanted.value ${RECORD_AND_MARKS}
     ORDER BY wanted.key`,
    JSON.stringify(ids),
  );
}
