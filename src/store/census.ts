import { randomUUID } from 'node:crypto';
import { type Availability, DAY_LETTERS, type DayWord, SHOWN_DAYS } from '../model/availability.ts';
import type { JsonObject } from '../model/json.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { findOwnerStates } from './owners.ts';
import { MIN_ORIGINS_PER_BLOCK, utcDay } from './statistics.ts';
import { objectFromStoredJson, toStoredJson } from './stored-values.ts';
import type { Row } from './tables.ts';
import type { DueOptions } from './watches.ts';

/** A word counts as today's for this long. */
const TODAY_MS = 36 * 3_600_000;
const WEEK_DAYS = 7;
const CHECKED_OF_WEEK = 3;
const SHOWN_IMPORTS = 10;
const NO_LETTERS = DAY_LETTERS.not_checked.repeat(SHOWN_DAYS);

/** Entries of indexes, and rules of robots.txt, are JSON of the census's own. */
export type CensusOrigin = Omit<Row<'census'>, 'listing' | 'robots'> & {
  readonly listing: JsonObject;
  readonly robots: JsonObject;
};

/** Facts that an import has about an origin. */
export type ImportedOrigin = Pick<
  CensusOrigin,
  'host' | 'originUrl' | 'domain' | 'listing' | 'firstDay' | 'lastDay' | 'isChosen' | 'lookAtMs'
>;

/** Members that the holder of a look's lease may change. */
export type CensusChange = Partial<
  Pick<
    CensusOrigin,
    | ('listing' | 'robots' | 'lookAtMs' | 'begunDay' | 'silence' | 'scannedDay' | 'restUntilMs')
    | 'isChosen'
  >
>;

/** The origins of the census and their words. A host's row is changed under the lease of its look. */
export function censusOn(context: StoreContext) {
  const { tables, now } = context;
  const { census, censusWords, censusImports } = tables;
  return {
    async get(host: string): Promise<CensusOrigin | null> {
      const row = await census.get(host);
      return row && toOrigin(row);
    },

    /** Every origin, some at a time. */
    async *readBatches(): AsyncGenerator<readonly CensusOrigin[]> {
      for await (const rows of census.batches({})) yield rows.map(toOrigin);
    },

    /** Hosts whose look is due, earliest first. */
    async findDue({ upToMs, limit, except }: DueOptions): Promise<readonly string[]> {
      const due = { lookAtMs: { upTo: upToMs }, host: { notIn: except } };
      const rows = await census.all(due, { order: [['lookAtMs', 'asc']], limit });
      return rows.map(({ host }) => host);
    },

    /** Time of the earliest look; null without origins. */
    async findFirstDueMs(): Promise<number | null> {
      return (await census.first({}, { order: [['lookAtMs', 'asc']] }))?.lookAtMs ?? null;
    },

    /** Stores what an import knows; the next look of a known origin stays planned as it is. */
    async saveImported({ host, listing, ...imported }: ImportedOrigin): Promise<void> {
      const text = toStoredJson(listing, `the listing of ${host}`);
      const isNew = await census.insert({ ...imported, ...NEVER_LOOKED_AT, host, listing: text });
      if (isNew) return;
      const { lastDay, isChosen } = imported;
      await census.set({ host }, { listing: text, lastDay, isChosen });
    },

    async change(host: string, { listing, robots, ...change }: CensusChange): Promise<void> {
      const texts = {
        ...(listing && { listing: toStoredJson(listing, `the listing of ${host}`) }),
        ...(robots && { robots: toStoredJson(robots, `the robots.txt of ${host}`) }),
      };
      await census.set({ host }, { ...change, ...texts });
    },

    /** Removes an origin and its words. */
    async remove(host: string): Promise<void> {
      await censusWords.remove({ host });
      await census.remove({ host });
      await tables.records.set({ host }, toCensusMembers(null));
    },

    async findWord(host: string, day: number): Promise<DayWord | null> {
      return (await censusWords.get(host, day))?.word ?? null;
    },

    /** Inserts the word of a host and day; false if the day has one. */
    async insertWord(host: string, day: number, word: DayWord): Promise<boolean> {
      const row = { host, day, attempt: randomUUID(), word, atMs: now() };
      return (await censusWords.insertContended(row)) === 'won';
    },

    /** Sums up the days of a host in its row and its record, and deletes words that are older. */
    fold: (host: string): Promise<void> => foldWords(context, host),

    /** Number of hosts with each word on the newest day that is over and has enough origins; null before the first. */
    countWordsOfLastDay: (): Promise<WordCounts | null> => countsOfLastDay(context),

    /** The imports of a source that have ended, newest first; at most ten. */
    async findImports(source: string): Promise<readonly Row<'censusImports'>[]> {
      return censusImports.all({ source }, { order: [['day', 'desc']], limit: SHOWN_IMPORTS });
    },

    async endImport(source: string, day: number, isComplete: boolean): Promise<void> {
      const attempt = randomUUID();
      await censusImports.insertContended({ source, day, attempt, isComplete, endedAtMs: now() });
    },
  };
}

const NEVER_LOOKED_AT = {
  begunDay: null,
  silence: null,
  scannedDay: null,
  robots: '{}',
  restUntilMs: null,
  word: null,
  wordAtMs: null,
  letters: NO_LETTERS,
  letterDay: 0,
};

function toOrigin({ listing, robots, ...row }: Row<'census'>): CensusOrigin {
  return { ...row, listing: objectFromStoredJson(listing), robots: objectFromStoredJson(robots) };
}

async function foldWords({ tables, now }: StoreContext, host: string): Promise<void> {
  const { census, censusWords, records } = tables;
  const today = utcDay(now());
  const shown = { after: today - SHOWN_DAYS, upTo: today };
  const words = await censusWords.all({ host, day: shown }, { order: [['day', 'asc']] });
  const letters = Array.from(NO_LETTERS);
  for (const { day, word } of words) letters[SHOWN_DAYS - 1 - (today - day)] = DAY_LETTERS[word];
  const newest = words.at(-1);
  const folded = {
    ...(newest ? { word: newest.word, wordAtMs: newest.atMs } : {}),
    letters: letters.join(''),
    letterDay: today,
  };
  await census.set({ host }, folded);
  const row = await census.get(host);
  if (row) await records.set({ host }, toCensusMembers(row));
  await censusWords.remove({ host, day: { upTo: today - SHOWN_DAYS } });
}

/** The words of the census about a host, in the form of its record. */
export type DayWords = {
  /** The newest word, and when it was said. */
  readonly word: DayWord;
  readonly wordAtMs: number;
  /** A letter for each of 30 days, newest last, and the day of the last letter. */
  readonly letters: string;
  readonly letterDay: number;
};

/** The members of a record that the census fills. */
export function toCensusMembers(row: Row<'census'> | null) {
  if (row === null || row.word === null || row.wordAtMs === null) {
    return { dayWords: null, payableUntilMs: null, payableWeekDays: null };
  }
  const { word, wordAtMs, letters, letterDay } = row;
  // Without further words each later day loses the oldest letter of its week.
  const ahead = Array.from({ length: WEEK_DAYS }, (_, days) => days);
  const weekDays = ahead.filter((days) => isPayableWeek(shifted(letters, days)));
  return {
    dayWords: toStoredJson({ word, wordAtMs, letters, letterDay }, `the words of ${row.host}`),
    payableUntilMs: word === 'payable' ? wordAtMs + TODAY_MS : null,
    payableWeekDays: ` ${weekDays.map((days) => letterDay + days).join(' ')} `,
  };
}

/** The present day as it stands in `payableWeekDays`. */
export function toWeekDaysEntry(nowMs: number): string {
  return ` ${utcDay(nowMs)} `;
}

function isPayableWeek(letters: string): boolean {
  const week = letters.slice(-WEEK_DAYS);
  const payable = countLetters(week, 'payable');
  const checked = countChecked(week);
  return checked >= CHECKED_OF_WEEK && payable * WEEK_DAYS >= checked * (WEEK_DAYS - 1);
}

/** The letters as they are `days` days later. */
function shifted(letters: string, days: number): string {
  return (letters + NO_LETTERS.slice(0, Math.min(days, SHOWN_DAYS))).slice(-SHOWN_DAYS);
}

function countLetters(letters: string, word: DayWord): number {
  return letters.split(DAY_LETTERS[word]).length - 1;
}

function countChecked(letters: string): number {
  return letters.length - countLetters(letters, 'not_checked');
}

/** Null for a host that was never looked at. */
export function toAvailability(dayWords: string | null, nowMs: number): Availability | null {
  if (dayWords === null) return null;
  // `censusMembers` is the only writer of this text.
  const { word, wordAtMs, letters, letterDay } = objectFromStoredJson(dayWords) as DayWords;
  const days = shifted(letters, Math.max(0, utcDay(nowMs) - letterDay));
  return {
    today: nowMs - wordAtMs < TODAY_MS ? word : null,
    payableDays: countLetters(days, 'payable'),
    checkedDays: countChecked(days),
    days,
  };
}

/** Number of hosts with each word on one day. */
export type WordCounts = Readonly<Record<DayWord, number>>;

async function countsOfLastDay({ tables }: StoreContext): Promise<WordCounts | null> {
  const sums = await tables.censusSums.all({}, { order: [['day', 'desc']] });
  const counts = sums.map(({ sums: text }) => toCounts(text));
  return counts.find((one) => total(one) >= MIN_ORIGINS_PER_BLOCK) ?? null;
}

function toCounts(text: string): WordCounts {
  const { payable, not_payable, down, not_checked } = objectFromStoredJson(text);
  return {
    payable: Number(payable),
    not_payable: Number(not_payable),
    down: Number(down),
    not_checked: Number(not_checked),
  };
}

function total({ payable, not_payable, down, not_checked }: WordCounts): number {
  return payable + not_payable + down + not_checked;
}

/**
 * Counts the words of each day that is over, once, without hosts that are opted out by then; removes old sums and
 * imports. Returns the number of removed rows.
 */
export async function foldCensusDays(context: StoreContext, nowMs: number): Promise<number> {
  const { censusWords, censusSums, censusImports } = context.tables;
  const last = await censusSums.first({}, { order: [['day', 'desc']] });
  const oldest = await censusWords.first({}, { order: [['day', 'asc']] });
  const endDay = utcDay(nowMs - RETENTION_MS.lateRows);
  for (let day = Math.max((last?.day ?? 0) + 1, oldest?.day ?? endDay); day < endDay; day += 1) {
    const counts = await countWords(context, day);
    if (total(counts) === 0) continue;
    const sums = toStoredJson({ ...counts }, 'the words of a day');
    await censusSums.insertContended({ day, attempt: randomUUID(), sums });
  }
  const old = { day: { before: utcDay(nowMs - RETENTION_MS.daySum) } };
  return (await censusSums.removeInBatches(old)) + (await censusImports.removeInBatches(old));
}

async function countWords(context: StoreContext, day: number): Promise<WordCounts> {
  const counts = { payable: 0, not_payable: 0, down: 0, not_checked: 0 };
  for await (const rows of context.tables.censusWords.batches({ day })) {
    const stateOf = await findOwnerStates(
      context,
      rows.map(({ host }) => host),
    );
    for (const { host, word } of rows) if (stateOf(host).listed) counts[word] += 1;
  }
  return counts;
}
