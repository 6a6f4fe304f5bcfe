import { randomBytes, randomUUID } from 'node:crypto';
import type { JsonObject } from '../../scanner/model/json.ts';
import {
  type Availability,
  DAY_LETTERS,
  type DayWord,
  SHOWN_DAYS,
} from '../../scanner/model/payability.ts';
import type { StoreContext } from './context.ts';
import { countWordsOfLastDay, utcDay, type WordCounts } from './statistics.ts';
import { objectFromStoredJson, toStoredJson } from './stored-values.ts';
import type { Row } from './tables.ts';
import type { DueOptions } from './watches.ts';

/** Time for which the newest word of a host counts as its word of today. */
const WORD_LIFETIME_MS = 36 * 3_600_000;
const WEEK_DAYS = 7;
/** A week with fewer checked days is not called payable. */
const MIN_CHECKED_DAYS = 3;
const MAX_IMPORTS = 10;
const UNCHECKED_LETTERS = DAY_LETTERS.not_checked.repeat(SHOWN_DAYS);

/** An origin of the census. `listing` holds its entries in indexes, and `robots` its rules of robots.txt. */
export type CensusOrigin = Omit<Row<'census'>, 'listing' | 'robots'> & {
  readonly listing: JsonObject;
  readonly robots: JsonObject;
};

/** The facts about an origin that an import of the indexes gives. */
type ImportedOrigin = Pick<
  CensusOrigin,
  'host' | 'originUrl' | 'domain' | 'listing' | 'firstDay' | 'lastDay' | 'isChosen' | 'lookAtMs'
>;

/** Members that an instance may change while it holds the lease of a look at the origin. */
type CensusChange = Partial<
  Pick<
    CensusOrigin,
    | ('listing' | 'robots' | 'robotsDay' | 'lookAtMs' | 'begunDay' | 'silence' | 'scannedDay')
    | 'restUntilMs'
    | 'isChosen'
    | 'network'
  >
>;

/**
 * The origins of the census and their words. A word says what the look of a day found, such as `payable`. Only the
 * instance with the lease of a host's look changes the row of the host.
 */
export function createCensusStore(context: StoreContext) {
  const { tables, now } = context;
  const { census, censusWords, censusImports, censusFacts } = tables;
  return {
    async get(host: string): Promise<CensusOrigin | null> {
      const row = await census.get(host);
      return row && toOrigin(row);
    },

    readSummaries: () => census.batchesOf({}, SUMMARY_COLUMNS),

    /** Returns null if no import has found the origin. */
    async findSummary(host: string): Promise<OriginSummary | null> {
      for await (const [summary] of census.batchesOf({ host }, SUMMARY_COLUMNS))
        return summary ?? null;
      return null;
    },

    /** Yields the hosts whose look is due, in batches without order. */
    readDue: ({ upToMs, except }: Pick<DueOptions, 'upToMs' | 'except'>) =>
      census.batchesOf({ lookAtMs: { upTo: upToMs }, host: { notIn: except } }, DUE_COLUMNS),

    /**
     * Returns the secret of this store. Hashes with the secret decide places and times, so nobody can choose a host name
     * that gets a good place.
     * @param proposal becomes the secret if the store has none
     */
    async readSecret(proposal = randomBytes(32).toString('hex')): Promise<string> {
      const name = 'secret';
      const storedSecret = await censusFacts.get(name);
      if (storedSecret !== null) return storedSecret.value;
      await censusFacts.insertContended({ name, attempt: randomUUID(), value: proposal });
      return (await censusFacts.get(name))?.value ?? proposal;
    },

    async findFirstDueMs(): Promise<number | null> {
      return (await census.first({}, { order: [['lookAtMs', 'asc']] }))?.lookAtMs ?? null;
    },

    /** Stores the facts of an import. The planned look of a known origin does not change. */
    async saveImported({ host, listing, ...imported }: ImportedOrigin): Promise<void> {
      const text = toStoredJson(listing, `the listing of ${host}`);
      if (await census.insert({ ...imported, ...NEW_ORIGIN, host, listing: text })) return;
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

    async remove(host: string): Promise<void> {
      await censusWords.remove({ host });
      await census.remove({ host });
      await tables.records.set({ host }, toCensusMembers(null));
    },

    async findWord(host: string, day: number): Promise<DayWord | null> {
      return (await censusWords.get(host, day))?.word ?? null;
    },

    /** Inserts the word of a host and day; false if the host has a word for that day. */
    async insertWord(host: string, day: number, word: DayWord): Promise<boolean> {
      const row = { host, day, attempt: randomUUID(), word, atMs: now() };
      return (await censusWords.insertContended(row)) === 'won';
    },

    /** Writes the words of the shown days as letters into the host's row and record, and deletes older words. */
    fold: (host: string): Promise<void> => foldWords(context, host),

    /** Counts the hosts with each word on the newest finished day with enough origins; null if there is no such day. */
    countWordsOfLastDay: (): Promise<WordCounts | null> => countWordsOfLastDay(context),

    /** Finds the newest ten imports of a source that have ended, newest first. */
    async findImports(source: string): Promise<readonly Row<'censusImports'>[]> {
      return censusImports.all({ source }, { order: [['day', 'desc']], limit: MAX_IMPORTS });
    },

    async endImport(source: string, day: number, isComplete: boolean): Promise<void> {
      const attempt = randomUUID();
      await censusImports.insertContended({ source, day, attempt, isComplete, endedAtMs: now() });
    },
  };
}

const SUMMARY_COLUMNS = [
  'host',
  'domain',
  'isChosen',
  'lastDay',
  'lookAtMs',
  'wordAtMs',
  'excludedAtMs',
] as const;
/** An origin without its listing and its rules of robots.txt, which are long. */
type OriginSummary = Pick<Row<'census'>, (typeof SUMMARY_COLUMNS)[number]>;

const DUE_COLUMNS = ['host', 'domain', 'network', 'lookAtMs', 'firstDay', 'scannedDay'] as const;
export type DueOrigin = Pick<Row<'census'>, (typeof DUE_COLUMNS)[number]>;

const NEW_ORIGIN = {
  network: null,
  robotsDay: null,
  excludedAtMs: null,
  begunDay: null,
  silence: null,
  scannedDay: null,
  robots: '{}',
  restUntilMs: null,
  word: null,
  wordAtMs: null,
  letters: UNCHECKED_LETTERS,
  letterDay: 0,
};

function toOrigin({ listing, robots, ...row }: Row<'census'>): CensusOrigin {
  return { ...row, listing: objectFromStoredJson(listing), robots: objectFromStoredJson(robots) };
}

async function foldWords({ tables, now }: StoreContext, host: string): Promise<void> {
  const { census, censusWords, records } = tables;
  const today = utcDay(now());
  const shownDays = { after: today - SHOWN_DAYS, upTo: today };
  const words = await censusWords.all({ host, day: shownDays }, { order: [['day', 'asc']] });
  const letters = Array.from(UNCHECKED_LETTERS);
  for (const { day, word } of words) letters[SHOWN_DAYS - 1 - (today - day)] = DAY_LETTERS[word];
  const newestWord = words.at(-1);
  const members = {
    ...(newestWord ? { word: newestWord.word, wordAtMs: newestWord.atMs } : {}),
    letters: letters.join(''),
    letterDay: today,
  };
  await census.set({ host }, members);
  // The row is read again after the record was written, because the host may have been excluded meanwhile.
  for (let written: string | undefined; ; ) {
    const row = await census.get(host);
    const next = JSON.stringify(row && toCensusMembers(row));
    if (row === null || next === written) break;
    await records.set({ host }, toCensusMembers(row));
    written = next;
  }
  await censusWords.remove({ host, day: { upTo: today - SHOWN_DAYS } });
}

type WordColumn = 'word' | 'wordAtMs' | 'letters' | 'letterDay';
/** The words of the census about a host, as the host's directory record stores them. */
export type DayWords = { readonly [Name in WordColumn]: NonNullable<Row<'census'>[Name]> };

type WordsOfHost = Pick<Row<'census'>, 'host' | 'excludedAtMs' | WordColumn>;

/** The members of a record that the census fills. */
export function toCensusMembers(row: WordsOfHost | null) {
  if (row === null || row.word === null || row.wordAtMs === null || row.excludedAtMs !== null) {
    return { dayWords: null, payableUntilMs: null, payableWeekDays: null };
  }
  const { word, wordAtMs, letters, letterDay } = row;
  // A week is the last seven letters. Each day without a new word shifts the oldest letter out of the week.
  const daysAhead = Array.from({ length: WEEK_DAYS }, (_, days) => days);
  const weekDays = daysAhead.filter((days) => isPayableWeek(shiftLetters(letters, days)));
  return {
    dayWords: toStoredJson({ word, wordAtMs, letters, letterDay }, `the words of ${row.host}`),
    payableUntilMs: word === 'payable' ? wordAtMs + WORD_LIFETIME_MS : null,
    payableWeekDays: ` ${weekDays.map((days) => letterDay + days).join(' ')} `,
  };
}

/** Returns the text that `payableWeekDays` contains if the week of the present day is payable. */
export function toWeekDayPattern(nowMs: number): string {
  return ` ${utcDay(nowMs)} `;
}

/** True if at least six of seven checked days were payable. */
function isPayableWeek(letters: string): boolean {
  const week = letters.slice(-WEEK_DAYS);
  const payable = countLetters(week, 'payable');
  const checked = countChecked(week);
  return checked >= MIN_CHECKED_DAYS && payable * WEEK_DAYS >= checked * (WEEK_DAYS - 1);
}

/** Returns the letters of a host `days` days later if no word is inserted until then. */
function shiftLetters(letters: string, days: number): string {
  return (letters + UNCHECKED_LETTERS.slice(0, Math.min(days, SHOWN_DAYS))).slice(-SHOWN_DAYS);
}

function countLetters(letters: string, word: DayWord): number {
  return letters.split(DAY_LETTERS[word]).length - 1;
}

function countChecked(letters: string): number {
  return letters.length - countLetters(letters, 'not_checked');
}

/** Returns null if the census never looked at the host. */
export function toAvailability(dayWords: string | null, nowMs: number): Availability | null {
  if (dayWords === null) return null;
  // `toCensusMembers` is the only writer of this text.
  const { word, wordAtMs, letters, letterDay } = objectFromStoredJson(dayWords) as DayWords;
  const days = shiftLetters(letters, Math.max(0, utcDay(nowMs) - letterDay));
  return {
    today: nowMs - wordAtMs < WORD_LIFETIME_MS ? word : null,
    payableDays: countLetters(days, 'payable'),
    checkedDays: countChecked(days),
    days,
  };
}
