import type { PayableState } from '../../model/payability.ts';
import type { Grade } from '../../model/report.ts';
import type { ChangeType } from '../contract/changes.ts';
import { boolean, bytes, integer, orNull, table, text, textOf } from './columns.ts';
import { PAYMENT_TABLES } from './payment-tables.ts';
import type { RowOf, TablesOf } from './table.ts';

/*
 * Free-form JSON is kept as text: its member names may hold what a database reserves ("$", "."), and its numbers must
 * come back as they went in.
 */

/** Every table of a store, its keys and what it is read by. */
export const TABLES = {
  ...PAYMENT_TABLES,
  results: table({
    name: 'results',
    columns: { scanId: text, host: text, scannedAtMs: integer, submittedUrl: text },
    key: ['scanId'],
    indexes: [['host', 'scannedAtMs'], ['scannedAtMs']],
  }),
  /** Reports as packed JSON, apart from their results because answers refer to them for longer. */
  reports: table({
    name: 'reports',
    columns: { scanId: text, scannedAtMs: integer, report: bytes },
    key: ['scanId'],
    // The result follows.
    passing: () => true,
    indexes: [['scannedAtMs']],
  }),
  recordings: table({
    name: 'recordings',
    /** Null: it is too large to be kept. */
    columns: { scanId: text, keptAtMs: integer, recording: orNull(bytes) },
    key: ['scanId'],
    // The result, or the answer that holds it, follows.
    passing: () => true,
    indexes: [['keptAtMs']],
  }),
  history: table({
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
      /** Null once the record has it for long. */
      scan: orNull(text),
      /** Null in rows of programs that did not keep it. */
      payableBy: orNull(textOf<PayableState>()),
    },
    key: ['host', 'seq'],
    // The change follows.
    passing: () => true,
    unique: [['scanId']],
    indexes: [['host', 'scannedAtMs', 'scanId']],
  }),
  /** The newest scan of a host, made of its history. */
  records: table({
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
      /** Some scan has had an answer of the origin. */
      reached: boolean,
      scan: text,
    },
    key: ['host'],
    // The change follows.
    passing: () => true,
  }),
  changes: table({
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
      /** The host was not listed then: no reader is ever told of it. */
      hidden: boolean,
    },
    key: ['n'],
    unique: [['scanId']],
    indexes: [['changedAtMs'], ['host', 'n']],
  }),
  /** Each row has all that an owner wants and has proved, from this number on. */
  owners: table({
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
  snapshots: table({
    name: 'snapshots',
    columns: { source: text, key: text, takenAtMs: integer, data: text },
    key: ['source', 'key'],
    indexes: [['takenAtMs']],
  }),
  verdicts: table({
    name: 'verdicts',
    columns: { host: text, checkId: text, atMs: integer, data: text },
    key: ['host', 'checkId'],
    indexes: [['host'], ['atMs']],
  }),
  /** What a host adds to the statistics of a UTC day, until the day is folded. */
  hostDays: table({
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
    // The change follows.
    passing: () => true,
    unique: [['scanId']],
  }),
  /** The sums of a whole day, without any host. */
  daySums: table({
    name: 'day_sums',
    columns: { day: integer, attempt: text, sums: text },
    key: ['day'],
  }),
  /** What `StoredSigningKey` says. */
  signingKeys: table({
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
  /** What is watched of a host, whole, as it is from this number on. */
  watches: table({
    name: 'watches',
    columns: {
      host: text,
      n: integer,
      attempt: text,
      atMs: integer,
      /** False once a later version replaced it. */
      isCurrent: boolean,
      lookAtMs: orNull(integer),
      sendAtMs: orNull(integer),
      endedAtMs: orNull(integer),
      receiver: text,
      state: text,
    },
    key: ['host', 'n'],
    indexes: [['lookAtMs'], ['sendAtMs'], ['endedAtMs'], ['isCurrent', 'atMs']],
  }),
  /** A text that the version `n` of a watch brought. */
  watchTexts: table({
    name: 'watch_texts',
    columns: { id: text, host: text, n: integer, attempt: text, text },
    key: ['id'],
    // The version follows.
    passing: () => true,
    indexes: [['host', 'n']],
  }),
};

export type Tables = TablesOf<typeof TABLES>;

/** A row of the table of this name. */
export type Row<Name extends keyof typeof TABLES> = RowOf<(typeof TABLES)[Name]>;
