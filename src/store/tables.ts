import type { DayWord } from '../model/availability.ts';
import type { PayableState } from '../model/payability.ts';
import type { Grade } from '../model/report.ts';
import { PAYMENT_TABLES } from './payment-tables.ts';
import {
  boolean,
  bytes,
  defineTable,
  integer,
  orNull,
  type RowOf,
  type TablesOf,
  text,
  textOf,
} from './table.ts';

export type ChangeType = 'new' | 'grade_changed' | 'rescanned';

/*
 * Free-form JSON is stored as text: its member names may hold characters that a database reserves ("$", "."), and its
 * numbers must stay as they are.
 */

/** Every table of a store, with its keys and indexes. */
export const TABLES = {
  ...PAYMENT_TABLES,
  results: defineTable({
    name: 'results',
    columns: { scanId: text, host: text, scannedAtMs: integer, submittedUrl: text },
    key: ['scanId'],
    // Rows that use it follow, durably: the step `settling` of a payment, or the change of a publication.
    syncsLater: () => true,
    indexes: [['host', 'scannedAtMs'], ['scannedAtMs']],
  }),
  /** Reports as packed JSON, apart from their results because answers refer to them for longer. */
  reports: defineTable({
    name: 'reports',
    columns: { scanId: text, scannedAtMs: integer, report: bytes },
    key: ['scanId'],
    // Becomes durable with its result.
    syncsLater: () => true,
    indexes: [['scannedAtMs']],
  }),
  recordings: defineTable({
    name: 'recordings',
    /** `recording` is null when it is too large to be kept. */
    columns: { scanId: text, keptAtMs: integer, recording: orNull(bytes) },
    key: ['scanId'],
    // Becomes durable with its result, or with the answer that holds it.
    syncsLater: () => true,
    indexes: [['keptAtMs']],
  }),
  history: defineTable({
    name: 'history',
    columns: {
      host: text,
      seq: integer,
      attempt: text,
      scanId: text,
      scannedAtMs: integer,
      grade: textOf<Grade>(),
      score: integer,
      checksVersion: text,
      /** Null once the record has included the scan for an hour. */
      scan: orNull(text),
      /** Null in rows of older releases. */
      payableBy: orNull(textOf<PayableState>()),
    },
    key: ['host', 'seq'],
    // The change is inserted next, durably.
    syncsLater: () => true,
    unique: [['scanId']],
    indexes: [['host', 'scannedAtMs', 'scanId']],
  }),
  /** The newest scan of each host, built from its history. */
  records: defineTable({
    name: 'records',
    columns: {
      host: text,
      scanId: text,
      scannedAtMs: integer,
      grade: textOf<Grade>(),
      score: integer,
      category: text,
      firstSeenAtMs: integer,
      scanCount: integer,
      /** True when some scan had an answer of the origin. */
      reached: boolean,
      scan: text,
      /** JSON of `DayWords`: lists read no row of the census, whose listings are long. Null without a word. */
      dayWords: orNull(text),
      /** The census has found the host payable, which counts until then; null if it has not. */
      payableUntilMs: orNull(integer),
      /** The UTC days on whose lists its week is payable, by the words so far: " 20513 20514 ". */
      payableWeekDays: orNull(text),
    },
    key: ['host'],
    // The change is inserted next, durably.
    syncsLater: () => true,
  }),
  changes: defineTable({
    name: 'changes',
    columns: {
      n: integer,
      attempt: text,
      scanId: text,
      changeType: textOf<ChangeType>(),
      changedAtMs: integer,
      host: text,
      grade: textOf<Grade>(),
      score: integer,
      checksVersion: text,
      previousGrade: orNull(textOf<Grade>()),
      previousScore: orNull(integer),
      /** True when the host was not listed at the time, or a rescan moved nothing; readers never see the change. */
      hidden: boolean,
    },
    key: ['n'],
    unique: [['scanId']],
    indexes: [['changedAtMs'], ['host', 'n']],
  }),
  /** Each row is one version of an owner's settings and proof. */
  owners: defineTable({
    name: 'owners',
    columns: {
      n: integer,
      attempt: text,
      host: text,
      atMs: integer,
      listed: boolean,
      /** Hash of the token whose listing key set it. */
      listedBy: orNull(text),
      enrichmentSuppressed: boolean,
      suppressedBy: orNull(text),
      confirmedAtMs: orNull(integer),
      tokenHash: orNull(text),
      keyHash: orNull(text),
      client: orNull(text),
    },
    key: ['n'],
    indexes: [['host', 'n'], ['listed'], ['confirmedAtMs'], ['atMs']],
  }),
  snapshots: defineTable({
    name: 'snapshots',
    columns: { source: text, key: text, takenAtMs: integer, data: text },
    key: ['source', 'key'],
    indexes: [['takenAtMs']],
  }),
  /** The counters that each host adds to the statistics of a UTC day, until the day is folded. */
  hostDays: defineTable({
    name: 'host_days',
    columns: {
      /** Days since the epoch. */
      day: integer,
      host: text,
      /** The scan whose publication made it. */
      scanId: text,
      tally: text,
    },
    key: ['day', 'host'],
    // The change is inserted next, durably.
    syncsLater: () => true,
    unique: [['scanId']],
  }),
  /** The counters of a folded day, summed over all hosts; those of the days before it too while it is not a block. */
  daySums: defineTable({
    name: 'day_sums',
    columns: { day: integer, attempt: text, sums: text },
    key: ['day'],
  }),
  /** The origins of the census. Imports write what indexes list; whoever holds the lease of a look writes the rest. */
  census: defineTable({
    name: 'census',
    columns: {
      host: text,
      /** `https://api.example.com` */
      originUrl: text,
      /** Registrable domain of the host. */
      domain: text,
      /** JSON of `CensusListing`. */
      listing: text,
      /** UTC days since the epoch of the first and the last import that had the origin. */
      firstDay: integer,
      lastDay: integer,
      /** False: it is not asked, and only its days pass. */
      isChosen: boolean,
      /** Time of the next look. */
      lookAtMs: integer,
      /** The day of the last look that has begun. */
      begunDay: orNull(integer),
      /**
       * The look of `begunDay` met no answer, and its word waits until our own outage is ruled out: the id of its
       * scan, or an empty text.
       */
      silence: orNull(text),
      /** The day of the last full scan that was published. */
      scannedDay: orNull(integer),
      /** JSON: the paths that robots.txt was read for, and whether it allows them. */
      robots: text,
      /** The seller asked to be left alone until then. */
      restUntilMs: orNull(integer),
      word: orNull(textOf<DayWord>()),
      wordAtMs: orNull(integer),
      /** A letter for each of 30 days, newest last, and the day of the last letter. */
      letters: text,
      letterDay: integer,
    },
    key: ['host'],
    indexes: [['lookAtMs']],
  }),
  /** The word of a host and day is one insert. */
  censusWords: defineTable({
    name: 'census_words',
    columns: { host: text, day: integer, attempt: text, word: textOf<DayWord>(), atMs: integer },
    key: ['host', 'day'],
    indexes: [['day']],
  }),
  /** Number of hosts with each word on a day that is over. */
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
  /** Rows of `StoredSigningKey`. */
  signingKeys: defineTable({
    name: 'signing_keys',
    columns: {
      n: integer,
      kid: text,
      publicKey: text,
      privateKey: orNull(text),
      sinceMs: integer,
    },
    key: ['n'],
  }),
  /** Each row is one version of a host's watch. */
  watches: defineTable({
    name: 'watches',
    columns: {
      host: text,
      n: integer,
      attempt: text,
      atMs: integer,
      /** False once a later version replaced it. */
      isCurrent: boolean,
      lookAtMs: orNull(integer),
      /** Null in rows of older programs, as are the three below. */
      isConfirming: orNull(boolean),
      sendAtMs: orNull(integer),
      endedAtMs: orNull(integer),
      receiver: text,
      domain: orNull(text),
      client: orNull(text),
      holdsPlace: orNull(boolean),
      state: text,
    },
    key: ['host', 'n'],
    indexes: [
      ['lookAtMs'],
      ['isConfirming', 'lookAtMs'],
      ['sendAtMs'],
      ['receiver', 'sendAtMs'],
      ['receiver', 'isCurrent', 'holdsPlace'],
      ['domain', 'isCurrent'],
      ['endedAtMs'],
      ['isCurrent', 'atMs'],
    ],
  }),
  /** Each row is a text that version `n` of a watch added. */
  watchTexts: defineTable({
    name: 'watch_texts',
    columns: { id: text, host: text, n: integer, attempt: text, text },
    key: ['id'],
    // The version is inserted next, durably.
    syncsLater: () => true,
    indexes: [['host', 'n']],
  }),
};

export type Tables = TablesOf<typeof TABLES>;

/** The type of a row of the named table. */
export type Row<Name extends keyof typeof TABLES> = RowOf<(typeof TABLES)[Name]>;
