import type { SQLInputValue } from 'node:sqlite';
import { ALL_GRADES } from '../../../scanner/model/report.ts';
import { toWeekDayPattern } from '../census.ts';
import type { DirectoryQuery, HostPage, ListQuery, RecordLists } from '../context.ts';
import { toVerifiedSinceMs } from '../owners.ts';
import { type Connection, LIMIT } from './database.ts';

/** At most this many matches of a search are read and sorted. Pages of more matches are read through a sorted index. */
const MAX_SORTED_MATCHES = 1_000;

const ORDERS = {
  recent: 'r."scannedAtMs" DESC, r.host',
  grade: 'r.grade, r.score DESC, r."scannedAtMs" DESC, r.host',
  new: 'r."firstSeenAtMs" DESC, r.host',
} as const;

const ROW_ID_IN_LIST = 'r.rowid IN (SELECT value FROM json_each(?))';

/** True if the row `o` of `owners` is the newest row of its host. */
const IS_NEWEST = `NOT EXISTS (SELECT 1 FROM owners AS later
  WHERE later.host = o.host AND later.n > o.n)`;

/** Selects the row ids of records that no list may show. */
const HIDDEN_IDS_QUERY = `SELECT r.rowid AS id FROM owners o CROSS JOIN records r ON r.host = o.host
    WHERE o.listed = 0 AND ${IS_NEWEST}
  UNION SELECT r.rowid FROM census c CROSS JOIN records r ON r.host = c.host
    WHERE c."excludedAtMs" IS NOT NULL AND r."paidBy" = 'census'
  UNION SELECT rowid FROM records INDEXED BY records_never_reached WHERE reached = 0`;

/** Conditions on the records `r`. */
type Selection = {
  /** Names the table or index through which SQLite finds the records. */
  readonly from: string;
  readonly conditions: readonly string[];
  /** Parameters of the conditions. */
  readonly values: readonly SQLInputValue[];
  /** True if the selection has few rows. They are then sorted, and not read through a sorted index. */
  readonly isNarrow: boolean;
};

type Page = Pick<DirectoryQuery, 'sort'> & { readonly limit: number; readonly offset: number };

export function sqliteLists(connection: Connection, now: () => number): RecordLists {
  return {
    async list(query) {
      const hiddenIds = readHiddenIds(connection);
      const { sort, pageSize: limit } = query;
      const page = { sort, limit, offset: query.page * limit };
      const matching = toSelection(query, now());
      const selection = query.verified ? selectVerified(matching, now()) : matching;
      if (selection.isNarrow || query.q !== '') {
        const fewMatches = findFewMatches(connection, selection, page, hiddenIds);
        if (fewMatches) return fewMatches;
      }
      const count = countRecords(connection, selection, hiddenIds);
      if (page.offset >= count) return { count, hosts: [] };
      const sorted = toSortedSelection(selection, page);
      return { count, hosts: readPage(connection, sorted, page, hiddenIds) };
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
        readHiddenIds(connection),
      );
      const counts = new Map(rows.map(({ grade, n }) => [grade, Number(n)]));
      return new Map(ALL_GRADES.map((grade) => [grade, counts.get(grade) ?? 0]));
    },

    async findNewestHosts(limit) {
      const page = { sort: 'recent', limit, offset: 0 } as const;
      return readPage(connection, toSelection({}, now()), page, readHiddenIds(connection));
    },
  };
}

/** Reads the row ids as JSON. They are not cached, so that an opt-out takes effect at once. */
function readHiddenIds(connection: Connection): string {
  return JSON.stringify(connection.values(HIDDEN_IDS_QUERY));
}

/** Counts all records and subtracts the hidden ones. A count that tests each row would take ten times as long. */
function countRecords(connection: Connection, selection: Selection, hiddenIds: string): number {
  const { conditions, values, isNarrow } = selection;
  if (isNarrow) {
    return Number(connection.value(countStatement(selectVisible(selection)), ...values, hiddenIds));
  }
  const matches = connection.value(countStatement(selection), ...values);
  const hiddenRecords = 'json_each(?) AS hidden CROSS JOIN records r ON r.rowid = hidden.value';
  const hiddenStatement = countStatement({ from: hiddenRecords, conditions });
  const hiddenMatches = connection.value(hiddenStatement, hiddenIds, ...values);
  return Number(matches) - Number(hiddenMatches);
}

export function toSelection(
  { category, q, grade, sinceMs, payable }: Partial<ListQuery>,
  nowMs: number,
): Selection {
  const week = payable === 'week' ? toWeekDayPattern(nowMs) : undefined;
  const filters = [
    { condition: 'r.category = ?', value: category },
    { condition: 'instr(r.host, ?) > 0', value: q || undefined },
    { condition: 'r.grade = ?', value: grade },
    { condition: 'r."scannedAtMs" >= ?', value: sinceMs },
    { condition: 'r."payableUntilMs" > ?', value: payable === 'today' ? nowMs : undefined },
    { condition: 'instr(r."payableWeekDays", ?) > 0', value: week },
  ].flatMap(({ condition, value }) => (value === undefined ? [] : [{ condition, value }]));
  const index = category === undefined ? 'records_by_time' : 'records_by_category_and_time';
  return {
    from: `records r INDEXED BY ${index}`,
    conditions: filters.map(({ condition }) => condition),
    values: filters.map(({ value }) => value),
    isNarrow: false,
  };
}

/** Selects only verified hosts. They are few, so they are looked up by host. */
function selectVerified({ conditions, values }: Selection, nowMs: number): Selection {
  return {
    from: 'owners o CROSS JOIN records r ON r.host = o.host',
    conditions: ['o."confirmedAtMs" > ?', IS_NEWEST, ...conditions],
    values: [toVerifiedSinceMs(nowMs), ...values],
    isNarrow: true,
  };
}

/** Reads the selection through the index that has its rows in the wanted order. */
export function toSortedSelection(
  selection: Selection,
  { sort }: Pick<DirectoryQuery, 'sort'>,
): Selection {
  if (sort === 'recent' || selection.isNarrow) return selection;
  const index = sort === 'grade' ? 'records_by_grade' : 'records_by_first_scan';
  return { ...selection, from: `records r INDEXED BY ${index}` };
}

/** Finds all matches in one pass; null if there are too many to sort. */
function findFewMatches(
  connection: Connection,
  selection: Selection,
  page: Page,
  hiddenIds: string,
): HostPage | null {
  const rowIds = connection.values(
    `SELECT r.rowid FROM ${selection.from} ${toWhere(selectVisible(selection))} ${LIMIT}`,
    ...selection.values,
    hiddenIds,
    MAX_SORTED_MATCHES + 1,
  );
  if (rowIds.length > MAX_SORTED_MATCHES) return null;
  const values = [JSON.stringify(rowIds)];
  const matches = { from: 'records r', conditions: [ROW_ID_IN_LIST], values, isNarrow: true };
  return { count: rowIds.length, hosts: readPage(connection, matches, page, hiddenIds) };
}

function readPage(
  connection: Connection,
  selection: Selection,
  { sort, limit, offset }: Page,
  hiddenIds: string,
): readonly string[] {
  const sql = pageStatement(selection, sort);
  return connection.values(sql, ...selection.values, hiddenIds, limit, offset).map(String);
}

/** Without conditions SQLite counts the entries of the index, and reads no row. */
export function countStatement(selection: Pick<Selection, 'from' | 'conditions'>): string {
  return `SELECT count(*) FROM ${selection.from} ${toWhere(selection)}`;
}

export function pageStatement(selection: Selection, sort: DirectoryQuery['sort']): string {
  return `SELECT r.host FROM ${selection.from} ${toWhere(selectVisible(selection))}
    ORDER BY ${ORDERS[sort]} ${LIMIT} OFFSET ?`;
}

/** Leaves out hidden rows. The ids of hidden rows must be the last parameter of the conditions. */
function selectVisible<S extends Pick<Selection, 'conditions'>>(selection: S): S {
  return { ...selection, conditions: [...selection.conditions, `NOT ${ROW_ID_IN_LIST}`] };
}

function toWhere({ conditions }: Pick<Selection, 'conditions'>): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}
