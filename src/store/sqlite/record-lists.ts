import type { SQLInputValue } from 'node:sqlite';
import { ALL_GRADES } from '../../model/report.ts';
import { toWeekDaysEntry } from '../census.ts';
import type { DirectoryQuery, HostPage, ListQuery, RecordLists } from '../context.ts';
import { toVerifiedSinceMs } from '../owners.ts';
import { type Connection, LIMIT } from './connection.ts';

/** Up to this many matches of a search are read and sorted. Above it, a page is read through the index in its order. */
const FEW_MATCHES = 1_000;

const ORDERS = {
  recent: 'r."scannedAtMs" DESC, r.host',
  grade: 'r.grade, r.score DESC, r."scannedAtMs" DESC, r.host',
} as const;

const ROW_ID_IN_LIST = 'r.rowid IN (SELECT value FROM json_each(?))';

/** Condition: row `o` is the last of its host. */
const IS_LAST = `NOT EXISTS (SELECT 1 FROM owners AS later
  WHERE later.host = o.host AND later.n > o.n)`;

/** Row ids of records that no list shows. */
const HIDDEN = `SELECT r.rowid AS id FROM owners o CROSS JOIN records r ON r.host = o.host
    WHERE o.listed = 0 AND ${IS_LAST}
  UNION SELECT rowid FROM records INDEXED BY records_never_reached WHERE reached = 0`;

/** The records `r` of a query, and the index or table through which they are found. */
export type Selection = {
  readonly from: string;
  readonly conditions: readonly string[];
  readonly values: readonly SQLInputValue[];
  /** True if the selection has few rows, so that they are sorted and not read through an index. */
  readonly isNarrow: boolean;
};

type Page = Pick<DirectoryQuery, 'sort'> & { readonly limit: number; readonly offset: number };

export function sqliteLists(connection: Connection, now: () => number): RecordLists {
  return {
    async list(query) {
      const hidden = hiddenRecords(connection);
      const { sort, pageSize: limit } = query;
      const page = { sort, limit, offset: query.page * limit };
      const all = toSelection(query, now());
      const selection = query.verified ? verifiedAmong(all, now()) : all;
      if (selection.isNarrow || query.q !== '') {
        const few = fewMatches(connection, selection, page, hidden);
        if (few) return few;
      }
      const count = countRecords(connection, selection, hidden);
      if (page.offset >= count) return { count, hosts: [] };
      return { count, hosts: pageOf(connection, inOrder(selection, page), page, hidden) };
    },

    // Counting grade by grade takes half as long as GROUP BY over all rows.
    async countByGrade() {
      const rows = connection.rows(
        `SELECT grade, sum(n) AS n FROM (
           SELECT value AS grade, (SELECT count(*) FROM records WHERE grade = value) AS n
             FROM json_each(?)
           UNION ALL SELECT grade, -1 FROM json_each(?) AS hidden CROSS JOIN records r
             ON r.rowid = hidden.value)
         GROUP BY grade`,
        JSON.stringify(ALL_GRADES),
        hiddenRecords(connection),
      );
      const counts = new Map(rows.map(({ grade, n }) => [grade, Number(n)]));
      return new Map(ALL_GRADES.map((grade) => [grade, counts.get(grade) ?? 0]));
    },

    async findNewestHosts(limit) {
      const page = { sort: 'recent', limit, offset: 0 } as const;
      return pageOf(connection, toSelection({}, now()), page, hiddenRecords(connection));
    },
  };
}

/** Returns row ids as JSON. They are not cached, so that an opt-out holds at once. */
function hiddenRecords(connection: Connection): string {
  return JSON.stringify(connection.values(HIDDEN));
}

/** Counts all and subtracts the hidden ones, because a count that skips each hidden row takes ten times as long. */
function countRecords(connection: Connection, selection: Selection, hidden: string): number {
  const { conditions, values, isNarrow } = selection;
  if (isNarrow) {
    return Number(connection.value(countStatement(visible(selection)), ...values, hidden));
  }
  const all = connection.value(countStatement(selection), ...values);
  const among = 'json_each(?) AS hidden CROSS JOIN records r ON r.rowid = hidden.value';
  const hiddenMatches = connection.value(
    countStatement({ from: among, conditions }),
    hidden,
    ...values,
  );
  return Number(all) - Number(hiddenMatches);
}

export function toSelection(
  { category, q, grade, sinceMs, payable }: Partial<ListQuery>,
  nowMs: number,
): Selection {
  const filters = [
    { condition: 'r.category = ?', value: category },
    { condition: 'instr(r.host, ?) > 0', value: q || undefined },
    { condition: 'r.grade = ?', value: grade },
    { condition: 'r."scannedAtMs" >= ?', value: sinceMs },
    { condition: 'r."payableUntilMs" > ?', value: payable === 'today' ? nowMs : undefined },
    {
      condition: 'instr(r."payableWeekDays", ?) > 0',
      value: payable === 'week' ? toWeekDaysEntry(nowMs) : undefined,
    },
  ].flatMap(({ condition, value }) => (value === undefined ? [] : [{ condition, value }]));
  const index = category === undefined ? 'records_by_time' : 'records_by_category';
  return {
    from: `records r INDEXED BY ${index}`,
    conditions: filters.map(({ condition }) => condition),
    values: filters.map(({ value }) => value),
    isNarrow: false,
  };
}

/** Verified hosts are few and are looked up by name. */
function verifiedAmong({ conditions, values }: Selection, nowMs: number): Selection {
  return {
    from: 'owners o CROSS JOIN records r ON r.host = o.host',
    conditions: ['o."confirmedAtMs" > ?', IS_LAST, ...conditions],
    values: [toVerifiedSinceMs(nowMs), ...values],
    isNarrow: true,
  };
}

/** Selects the index that has the rows in the wanted order. */
export function inOrder(selection: Selection, { sort }: Pick<DirectoryQuery, 'sort'>): Selection {
  if (sort === 'recent' || selection.isNarrow) return selection;
  return { ...selection, from: 'records r INDEXED BY records_by_grade' };
}

/** Finds every match in one pass; null when there are too many to sort. */
function fewMatches(
  connection: Connection,
  selection: Selection,
  page: Page,
  hidden: string,
): HostPage | null {
  const rowIds = connection.values(
    `SELECT r.rowid FROM ${selection.from} ${where(visible(selection))} ${LIMIT}`,
    ...selection.values,
    hidden,
    FEW_MATCHES + 1,
  );
  if (rowIds.length > FEW_MATCHES) return null;
  const values = [JSON.stringify(rowIds)];
  const matches = { from: 'records r', conditions: [ROW_ID_IN_LIST], values, isNarrow: true };
  return { count: rowIds.length, hosts: pageOf(connection, matches, page, hidden) };
}

function pageOf(
  connection: Connection,
  selection: Selection,
  { sort, limit, offset }: Page,
  hidden: string,
): readonly string[] {
  const sql = pageStatement(selection, sort);
  return connection.values(sql, ...selection.values, hidden, limit, offset).map(String);
}

/** Without a condition SQLite counts from the index only, and reads no row. */
export function countStatement(selection: Pick<Selection, 'from' | 'conditions'>): string {
  return `SELECT count(*) FROM ${selection.from} ${where(selection)}`;
}

export function pageStatement(selection: Selection, sort: DirectoryQuery['sort']): string {
  return `SELECT r.host FROM ${selection.from} ${where(visible(selection))}
    ORDER BY ${ORDERS[sort]} ${LIMIT} OFFSET ?`;
}

/** Leaves out hidden rows. Their ids must be the last parameter. */
function visible<S extends Pick<Selection, 'conditions'>>(selection: S): S {
  return { ...selection, conditions: [...selection.conditions, `NOT ${ROW_ID_IN_LIST}`] };
}

function where({ conditions }: Pick<Selection, 'conditions'>): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}
