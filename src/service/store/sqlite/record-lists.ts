import type { SQLInputValue } from 'node:sqlite';
import { toWeekDayPattern } from '../census.ts';
import type { ListQuery, RecordLists } from '../context.ts';
import { toVerifiedSinceMs } from '../owners.ts';
import { type Connection, LIMIT } from './database.ts';

/** Each order has an index with all hosts in this order. */
const ORDERS = {
  recent: { index: 'directory_by_time', columns: '"scannedAtMs" DESC, host' },
  grade: { index: 'directory_by_grade', columns: 'grade, score DESC, "scannedAtMs" DESC, host' },
  new: { index: 'directory_by_first_scan', columns: '"firstSeenAtMs" DESC, host' },
} as const;

const SUFFIXES = 'directory_suffixes';
const COUNT_BY_GRADE = `SELECT grade, sum(hosts) AS hosts FROM directory_counts
  WHERE letter = '' GROUP BY grade`;

/** Looking up and sorting one match takes as long as reading this many entries of an index. */
const ENTRIES_PER_SORTED_MATCH = 30;

type Filters = Partial<Omit<ListQuery, 'sort' | 'page' | 'pageSize'>>;

type SortedFilters = Filters & Pick<ListQuery, 'sort'>;

type BoundSql = { readonly sql: string; readonly values: readonly SQLInputValue[] };

type Selection = {
  /** Names the table or index from which SQLite reads the hosts. */
  readonly from: string;
  readonly conditions: readonly BoundSql[];
};

export function createSqliteLists(connection: Connection, now: () => number): RecordLists {
  function count(filters: Filters): number {
    const { sql, values } = toCountStatement(filters, now());
    return Number(connection.value(sql, ...values));
  }

  /** True if sorting all matches takes less time than reading an ordered index until the page is full. */
  function isSortedFaster(matchCount: number, query: ListQuery): boolean {
    const { sort, grade, category, page, pageSize } = query;
    // SQLite reads only the entries of the query's category or grade, if the index has them.
    const filtersOfIndex = { recent: { category }, grade: { grade }, new: {} }[sort];
    const entriesPerMatch = count(filtersOfIndex) / matchCount;
    return matchCount * ENTRIES_PER_SORTED_MATCH < (page + 1) * pageSize * entriesPerMatch;
  }

  return {
    async list(query) {
      const { page, pageSize } = query;
      const matchCount = count(query);
      if (page * pageSize >= matchCount) return { count: matchCount, hosts: [] };
      const toPage = isSortedFaster(matchCount, query) ? toSortedStatement : toOrderedStatement;
      const { sql, values } = toPage(query, now());
      const hosts = connection.values(sql, ...values, pageSize, page * pageSize).map(String);
      return { count: matchCount, hosts };
    },

    async countByGrade() {
      return new Map(
        connection.rows(COUNT_BY_GRADE).map((row) => [String(row['grade']), Number(row['hosts'])]),
      );
    },

    async findNewestHosts(limit) {
      const { sql } = toOrderedStatement({ sort: 'recent', q: '' }, now());
      return connection.values(sql, limit, 0).map(String);
    },
  };
}

/** Adds up stored numbers of hosts if there are any for these filters. Otherwise counts the matches. */
export function toCountStatement(filters: Filters, nowMs: number): BoundSql {
  const { q = '', sinceMs, verified, payable } = filters;
  const conditions = listConditions(filters, nowMs);
  // Without conditions SQLite counts the entries of the smallest index, and reads no entry.
  if (conditions.length === 0 && q === '') {
    return { sql: 'SELECT count(*) FROM directory', values: [] };
  }
  const isStored = q.length <= 1 && sinceMs === undefined && !verified && payable !== 'today';
  if (!isStored) return toStatement('count(*)', selectMatches(filters, nowMs));
  const ofLetter = { sql: 'letter = ?', values: [q] };
  const selection = { from: 'directory_counts', conditions: [ofLetter, ...conditions] };
  return toStatement('coalesce(sum(hosts), 0)', selection);
}

/** Reads hosts from the index that has the order of the list. The last two parameters are the limit and the offset. */
export function toOrderedStatement(query: SortedFilters, nowMs: number): BoundSql {
  const { sort, category, q } = query;
  const { index, columns } = ORDERS[sort];
  const isOfCategory = category !== undefined && sort === 'recent';
  const from = `directory INDEXED BY ${isOfCategory ? 'directory_by_category_and_time' : index}`;
  const conditions = [...listConditions(query, nowMs), ...contains(q)];
  const { sql, values } = toStatement('host', { from, conditions });
  return { sql: `${sql} ORDER BY ${columns} ${LIMIT} OFFSET ?`, values };
}

/** Reads all matches and sorts them. The last two parameters are the limit and the offset. */
export function toSortedStatement(query: SortedFilters, nowMs: number): BoundSql {
  const selection = selectMatches(query, nowMs);
  const order = `ORDER BY ${ORDERS[query.sort].columns} ${LIMIT} OFFSET ?`;
  const isSearch = selection.from === SUFFIXES;
  const { sql, values } = toStatement(isSearch ? 'id' : 'host', selection);
  if (!isSearch) return { sql: `${sql} ${order}`, values };
  // With an index SQLite would read all hosts in order. NOT INDEXED leaves it the look-up by id.
  return { sql: `SELECT host FROM directory NOT INDEXED WHERE id IN (${sql}) ${order}`, values };
}

/** Selects the matches from the table or index in which SQLite reads the fewest other hosts. */
function selectMatches(filters: Filters, nowMs: number): Selection {
  const { q = '', sinceMs, verified } = filters;
  const conditions = listConditions(filters, nowMs);
  if (q.length > 1 && sinceMs === undefined && !verified) {
    return { from: SUFFIXES, conditions: [startsWith(q), ...conditions] };
  }
  const from = `directory INDEXED BY directory_by_${chooseIndex(filters)}`;
  return { from, conditions: [...conditions, ...contains(q)] };
}

function chooseIndex({ category, grade, verified, payable }: Filters) {
  if (verified) return 'proof';
  if (category !== undefined) {
    return payable === 'today' ? 'payable_and_category' : 'category_and_time';
  }
  if (grade !== undefined) return payable === 'today' ? 'payable_and_grade' : 'grade';
  return payable === 'today' ? 'payable' : 'time';
}

/** Lists the conditions of all filters except the search. */
function listConditions(filters: Filters, nowMs: number): readonly BoundSql[] {
  const { category, grade, sinceMs, verified, payable } = filters;
  const sinceProofMs = verified ? toVerifiedSinceMs(nowMs) : undefined;
  const week = payable === 'week' ? toWeekDayPattern(nowMs) : undefined;
  return [
    { sql: 'category = ?', value: category },
    { sql: 'grade = ?', value: grade },
    { sql: '"scannedAtMs" >= ?', value: sinceMs },
    { sql: '"confirmedAtMs" > ?', value: sinceProofMs },
    { sql: '"payableUntilMs" > ?', value: payable === 'today' ? nowMs : undefined },
    { sql: 'instr("payableWeekDays", ?) > 0', value: week },
  ].flatMap(({ sql, value }) => (value === undefined ? [] : [{ sql, values: [value] }]));
}

function contains(q = ''): readonly BoundSql[] {
  return q === '' ? [] : [{ sql: 'instr(host, ?) > 0', values: [q] }];
}

/** Selects, for each host that contains this text, the suffix at its first occurrence. */
function startsWith(q: string): BoundSql {
  // Hosts have no "{", and all their characters are less.
  const values = [q, `${q}{`, q.length];
  return { sql: 'suffix >= ? AND suffix < ? AND repeated < ?', values };
}

function toStatement(columns: string, { from, conditions }: Selection): BoundSql {
  const where = conditions.map(({ sql }) => sql).join(' AND ');
  const sql = `SELECT ${columns} FROM ${from}${where && ` WHERE ${where}`}`;
  return { sql, values: conditions.flatMap(({ values }) => values) };
}
