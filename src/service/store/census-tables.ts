import type { DayWord } from '../../scanner/model/payability.ts';
import { boolean, defineTable, integer, orNull, text, textOf } from './table.ts';

export const CENSUS_TABLES = {
  /** The origins of the census. Imports write the listings. The instance that runs a look writes the other columns. */
  census: defineTable({
    name: 'census',
    columns: {
      host: text,
      /** `https://api.example.com` */
      originUrl: text,
      /** Registrable domain of the host; the /24 or /48 of a literal address. */
      domain: text,
      /** The /24 or /48 at which the last look found the host; null before the first look. */
      network: orNull(text),
      /** JSON of `CensusListing`. */
      listing: text,
      /** UTC day (since the epoch) of the first import that listed the origin, and of the last one. */
      firstDay: integer,
      lastDay: integer,
      /** False: the census sends no requests to the origin. */
      isChosen: boolean,
      /** Time of the next look. */
      lookAtMs: integer,
      /** The day of the last look that has begun. */
      begunDay: orNull(integer),
      /**
       * Not null if the look of `begunDay` got no answer, and its word waits until we know that our own network works.
       * Then it is the id of the look's scan, or an empty text if there was no scan.
       */
      silence: orNull(text),
      /** The day of the last full scan that was published. */
      scannedDay: orNull(integer),
      /** JSON of the listed paths, each with the permission of robots.txt; and the day on which robots.txt was read. */
      robots: text,
      robotsDay: orNull(integer),
      /** The operator has excluded the host since this time. */
      excludedAtMs: orNull(integer),
      /** The seller asked us to send no requests until this time. */
      restUntilMs: orNull(integer),
      /** The newest word, and the time at which it was inserted; null before the first word. */
      word: orNull(textOf<DayWord>()),
      wordAtMs: orNull(integer),
      /** A letter for each of 30 days, newest last, and the day of the last letter. */
      letters: text,
      letterDay: integer,
    },
    key: ['host'],
    indexes: [['lookAtMs'], ['excludedAtMs']],
  }),
  /** Facts of the whole census: `secret`, and `exclusions`, which changes when a host is excluded or included. */
  censusFacts: defineTable({
    name: 'census_facts',
    columns: { name: text, attempt: text, value: text },
    key: ['name'],
  }),
  /** The word of each host and day. It is inserted once and never changed. */
  censusWords: defineTable({
    name: 'census_words',
    columns: { host: text, day: integer, attempt: text, word: textOf<DayWord>(), atMs: integer },
    key: ['host', 'day'],
    indexes: [['day']],
  }),
  /** Number of hosts with each word on a finished day. */
  censusSums: defineTable({
    name: 'census_sums',
    columns: { day: integer, attempt: text, sums: text },
    key: ['day'],
  }),
  /** Imports that have ended. */
  censusImports: defineTable({
    name: 'census_imports',
    columns: { source: text, day: integer, attempt: text, isComplete: boolean, endedAtMs: integer },
    key: ['source', 'day'],
    indexes: [['day']],
  }),
};
