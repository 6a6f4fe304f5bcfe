import type { PayableState } from '../../model/payability.ts';
import type { Grade } from '../../model/report.ts';
import type { ChangeType } from '../contract/changes.ts';
import type { LedgerState } from '../contract/ledger.ts';
import type { Owner } from '../contract/owner.ts';
import { boolean, bytes, integer, objectOf, orNull, table, text, textOf } from './columns.ts';
import type { RowOf, TablesOf } from './table.ts';

/*
 * Free-form JSON is kept as text: its member names may hold what a database reserves ("$", "."), and its numbers must
 * come back as they went in.
 */
const owner = objectOf<keyof Owner>('host', 'boot');

/** Every table of a store, its keys and what it is read by. */
export const TABLES = {
  ledger: table({
    name: 'ledger',
    columns: {
      key: text,
      step: integer,
      state: textOf<LedgerState>(),
      attempt: text,
      atMs: integer,
      owner,
      payer: text,
      request: text,
      validBeforeMs: integer,
      scanId: orNull(text),
      answerId: orNull(text),
      data: text,
    },
    key: ['key', 'step'],
    indexes: [['payer', 'state', 'atMs'], ['state', 'atMs'], ['answerId'], ['scanId']],
  }),
  /** A key may be unfinished since the claim at this step. */
  ledgerOpen: table({
    name: 'ledger_open',
    columns: { key: text, claimStep: integer, payer: text, request: text, sinceMs: integer },
    key: ['key', 'claimStep'],
    // The claim follows.
    passing: () => true,
    indexes: [['sinceMs'], ['payer', 'request']],
  }),
  /** An answer for this key was written to a client in full. */
  ledgerWritten: table({
    name: 'ledger_written',
    columns: { key: text, atMs: integer },
    key: ['key'],
  }),
  answers: table({
    name: 'answers',
    columns: {
      answerId: text,
      startedAtMs: integer,
      /** The scan against whose report the pieces are packed; null where they are the body itself. */
      reportOf: orNull(text),
      /** From here on null until the whole body is there. */
      status: orNull(integer),
      headers: orNull(text),
      bodyBytes: orNull(integer),
      bodySha256: orNull(text),
      storedBytes: orNull(integer),
      storedAtMs: orNull(integer),
      /** The kept bytes of the body; null where it stands in pieces. */
      bytes: orNull(bytes),
    },
    key: ['answerId'],
    indexes: [['startedAtMs'], ['reportOf']],
  }),
  answerChunks: table({
    name: 'answer_chunks',
    columns: { answerId: text, n: integer, bytes },
    key: ['answerId', 'n'],
  }),
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
  /** The scope is network, payer and id as one text. */
  identifiers: table({
    name: 'identifiers',
    columns: { scope: text, n: integer, request: text, key: text, attempt: text, atMs: integer },
    key: ['scope', 'n'],
    indexes: [['atMs']],
  }),
  unpaid: table({
    name: 'unpaid',
    columns: { payer: text, scanId: text, host: text, isDebt: boolean, atMs: integer },
    key: ['payer', 'scanId'],
    indexes: [['payer', 'atMs'], ['atMs']],
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
  slots: table({
    name: 'slots',
    columns: {
      attempt: text,
      scope: text,
      n: integer,
      owner,
      endsWithOwner: boolean,
      takenAtMs: integer,
      expiresAtMs: integer,
      group: orNull(text),
      data: orNull(text),
    },
    key: ['attempt'],
    unique: [['scope', 'n']],
    indexes: [['group'], ['expiresAtMs']],
    passing: (row) => row.endsWithOwner,
  }),
  leases: table({
    name: 'leases',
    columns: {
      name: text,
      turn: integer,
      owner,
      attempt: text,
      takenAtMs: integer,
      expiresAtMs: integer,
      releasedAtMs: orNull(integer),
    },
    key: ['name', 'turn'],
    indexes: [['takenAtMs']],
    passing: () => true,
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
