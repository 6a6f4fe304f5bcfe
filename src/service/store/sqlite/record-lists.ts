import type { SQLInputValue } from 'node:sqlite';
import { ALL_GRADES, type Grade } from '../../../scanner/model/report.ts';
import { toWeekDayPattern } from '../census.ts';
import type { DirectoryQuery, ListQuery, RecordLists } from '../context.ts';
import { toVerifiedSinceMs } from '../owners.ts';
import { type Connection, LIMIT } from './database.ts';

/** Each order has an index with all hosts in this order. */
const ORDERS = {
  recent: { index: 'directory_by_time', columns: '"scannedAtMs" DESC, host' },
  grade: { index: 'directory_by_grade', columns: 'grade, score DESC, "scannedAtMs" DESC, host' },
  new: { index: 'directory_by_first_scan', columns: '"firstSeenAtMs" DESC, host' },
} as const;

/** Reading and sorting one match takes as long as reading this many entries of an index. */
const ENTRIES_PER_SORTED_MATCH = 20;

/** A shorter search has no trigram. */
const TRIGRAM_LENGTH = 3;

/** If fewer hosts have the trigrams of a search, their rows are looked up. If more have, an index is read. */
const MANY_HOSTS = 500;

type Filter = { readonly condition: string; readonly value: SQLInputValue };

type Selection = {
  /** Names the table or index through which SQLite finds the rows. */
  readonly from: string;
  readonly filters: readonly Filter[];
  /** SQL of the number of selected hosts. Default: the number of rows. */
  readonly counted?: string;
};

type Page = Pick<DirectoryQuery, 'sort'> & { readonly limit: number; readonly offset: number };

const ALL_HOSTS: Selection = { from: 'directory', filters: [] };

export function sqliteLists(connection: Connection, now: () => number): RecordLists {
  const count = (selection: Selection) =>
    Number(connection.value(countStatement(selection), ...toValues(selection)));
  const readPage = (selection: Selection, { sort, limit, offset }: Page) =>
    connection
      .values(pageStatement(selection, sort), ...toValues(selection), limit, offset)
      .map(String);

  /** Selects the matches of a search among the hosts that have its trigrams; null if these are not few. */
  function selectAmongFew(q: string, { filters }: Selection): Selection | null {
    if (q.length < TRIGRAM_LENGTH) return null;
    const { from, filters: trigrams } = matchLetters(listTrigrams(q));
    const sql = `SELECT count(*) FROM (SELECT 1 FROM ${from} ${toWhere({ filters: trigrams })} ${LIMIT})`;
    const hosts = connection.value(sql, ...toValues({ filters: trigrams }), MANY_HOSTS);
    if (hosts === MANY_HOSTS) return null;
    return {
      from: `${from} CROSS JOIN directory ON id = ${from}.rowid`,
      filters: [...trigrams, ...filters],
    };
  }

  /** True if sorting all matches takes less time than reading an ordered index until the page is full. */
  function isSortedFaster(matches: number, { offset, limit }: Page): boolean {
    const entries = ((offset + limit) * count(ALL_HOSTS)) / matches;
    return matches * ENTRIES_PER_SORTED_MATCH < entries;
  }

  return {
    async list(query) {
      const { q, sort, pageSize: limit } = query;
      const page = { sort, limit, offset: query.page * limit };
      const selection = toSelection(query, now());
      const few = selectAmongFew(q, selection);
      const matches = count(few ?? toCountedSelection(query, selection));
      if (page.offset >= matches) return { count: matches, hosts: [] };
      if (few !== null) return { count: matches, hosts: readPage(few, page) };
      const isSorted = isReadTogether(query) && isSortedFaster(matches, page);
      const ordered = isSorted ? selection : toOrderedSelection(selection, query);
      return { count: matches, hosts: readPage(ordered, page) };
    },

    // Counting grade by grade takes half as long as GROUP BY over all rows.
    async countByGrade() {
      const countOf = (grade: Grade) => count(toSelection({ grade }, now()));
      return new Map(ALL_GRADES.map((grade) => [grade, countOf(grade)]));
    },

    async findNewestHosts(limit) {
      const page = { sort: 'recent', limit, offset: 0 } as const;
      return readPage(toOrderedSelection(ALL_HOSTS, page), page);
    },
  };
}

/** Selects the matches through the index with the fewest other entries. */
export function toSelection(query: Partial<ListQuery>, nowMs: number): Selection {
  const { category, q, grade, sinceMs, verified, payable } = query;
  const sinceProofMs = verified ? toVerifiedSinceMs(nowMs) : undefined;
  const week = payable === 'week' ? toWeekDayPattern(nowMs) : undefined;
  const filters = [
    { condition: 'category = ?', value: category },
    { condition: 'grade = ?', value: grade },
    { condition: '"scannedAtMs" >= ?', value: sinceMs },
    { condition: '"confirmedAtMs" > ?', value: sinceProofMs },
    { condition: '"payableUntilMs" > ?', value: payable === 'today' ? nowMs : undefined },
    { condition: 'instr("payableWeekDays", ?) > 0', value: week },
    { condition: 'instr(host, ?) > 0', value: q || undefined },
  ].flatMap(({ condition, value }) => (value === undefined ? [] : [{ condition, value }]));
  return { from: `directory INDEXED BY directory_by_${chooseIndex(query)}`, filters };
}

function chooseIndex({ category, q, grade, verified, payable }: Partial<ListQuery>) {
  if (verified) return 'proof';
  if (category !== undefined) return 'category';
  if (grade !== undefined) return 'grade';
  return payable === 'today' && !q ? 'payable' : 'time';
}

/** True if an index has the matches together, but in another order than the list. */
function isReadTogether(query: ListQuery): boolean {
  const index = query.q === '' ? chooseIndex(query) : 'time';
  return index !== 'time' && !(index === 'category' && query.sort === 'recent');
}

/** Selects the rows by which the matches are counted in the shortest time. */
export function toCountedSelection(query: ListQuery, selection: Selection): Selection {
  const { q, payable, verified, sinceMs } = query;
  const { filters } = selection;
  const counted = 'coalesce(sum(hosts), 0)';
  if (q !== '' && filters.length === 1) {
    if (q.length >= TRIGRAM_LENGTH) return matchLetters([q]);
    const isSearch = { condition: 'letters = ?', value: q };
    return { from: 'directory_letters', filters: [isSearch], counted };
  }
  const isOfWeek = payable === 'week' && q === '' && !verified && sinceMs === undefined;
  return isOfWeek ? { from: 'directory_weeks', filters, counted } : selection;
}

/** Selects the hosts that contain all these texts of three or more letters. None has a quotation mark. */
function matchLetters(texts: readonly string[]): Selection {
  const value = texts.map((text) => `"${text}"`).join(' ');
  return { from: 'directory_hosts', filters: [{ condition: 'directory_hosts MATCH ?', value }] };
}

/** Lists three trigrams of a search. Its first and last letters are left out, because most hosts share them. */
function listTrigrams(q: string): readonly string[] {
  const last = q.length - TRIGRAM_LENGTH;
  const starts = [0.25, 0.5, 0.75].map((part) => Math.floor(last * part));
  return [...new Set(starts)].map((start) => q.slice(start, start + TRIGRAM_LENGTH));
}

/** Reads the matches through the index that has its entries in the wanted order. */
export function toOrderedSelection(
  { filters }: Selection,
  { sort, category }: Pick<DirectoryQuery, 'sort' | 'category'>,
): Selection {
  const isOfCategory = category !== undefined && sort === 'recent';
  const index = isOfCategory ? 'directory_by_category_and_time' : ORDERS[sort].index;
  return { from: `directory INDEXED BY ${index}`, filters };
}

/** Without conditions SQLite counts the entries of the smallest index, and reads no entry. */
export function countStatement(selection: Selection): string {
  const { from, counted = 'count(*)' } = selection;
  return `SELECT ${counted} FROM ${from} ${toWhere(selection)}`;
}

export function pageStatement(selection: Selection, sort: DirectoryQuery['sort']): string {
  return `SELECT host FROM ${selection.from} ${toWhere(selection)}
    ORDER BY ${ORDERS[sort].columns} ${LIMIT} OFFSET ?`;
}

function toWhere({ filters }: Pick<Selection, 'filters'>): string {
  if (filters.length === 0) return '';
  return `WHERE ${filters.map(({ condition }) => condition).join(' AND ')}`;
}

export function toValues({ filters }: Pick<Selection, 'filters'>): readonly SQLInputValue[] {
  return filters.map(({ value }) => value);
}
