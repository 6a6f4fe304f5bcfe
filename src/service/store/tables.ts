import type { PaidBy, PayableState } from '../../scanner/model/payability.ts';
import type { Grade } from '../../scanner/model/report.ts';
import { CENSUS_TABLES } from './census-tables.ts';
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

/** `rules_changed`: the census found another grade by another catalog or program than before. */
type ChangeType = 'new' | 'grade_changed' | 'rules_changed' | 'rescanned';

/**
 * All tables of a store. Free-form JSON is stored as text, because a database may reserve characters of its member
 * names ("$", ".") or change its numbers. By the random `attempt` a writer recognises its own row if it inserts again.
 */
export const TABLES = {
  ...PAYMENT_TABLES,
  ...CENSUS_TABLES,
  /** Finished scans. `scannedAtMs` is the report's `scannedAt`, and `submittedUrl` is the URL as the caller sent it. */
  results: defineTable({
    name: 'results',
    columns: { scanId: text, host: text, scannedAtMs: integer, submittedUrl: text },
    key: ['scanId'],
    // A synced row follows: the step `settling` of a payment, or the change of a publication.
    syncsLater: () => true,
    indexes: [['host', 'scannedAtMs'], ['scannedAtMs']],
  }),
  /** Reports as compressed JSON. A stored answer may need its report after the row in `results` was purged. */
  reports: defineTable({
    name: 'reports',
    columns: { scanId: text, scannedAtMs: integer, report: bytes },
    key: ['scanId'],
    // The result is inserted next, and becomes durable together with this row.
    syncsLater: () => true,
    indexes: [['scannedAtMs']],
  }),
  recordings: defineTable({
    name: 'recordings',
    /** `recording` is null when it is too large to be kept. */
    columns: { scanId: text, keptAtMs: integer, recording: orNull(bytes) },
    key: ['scanId'],
    // The result, or the answer with the recording, becomes durable together with this row.
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
      /** Null after the record has included the scan for an hour. */
      scan: orNull(text),
      payableBy: textOf<PayableState>(),
      /** Null if a payer ordered the scan. */
      paidBy: orNull(textOf<PaidBy>()),
      scannerVersion: orNull(text),
    },
    key: ['host', 'seq'],
    // A synced row of `changes` follows.
    syncsLater: () => true,
    unique: [['scanId']],
    indexes: [['host', 'scannedAtMs', 'scanId']],
  }),
  /** The newest scan of each host. The row can be rebuilt from the host's history. */
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
      /** True if the origin answered in at least one scan. */
      reached: boolean,
      scan: text,
      /** `census` if the census ordered `scan`; null if a payer did. */
      paidBy: orNull(textOf<PaidBy>()),
      /** The newest scan that a payer ordered, while `scan` is of the census; null if there is none. */
      paidScan: orNull(text),
      /** JSON of `DayWords`, copied from the census because the census has long rows. Null if there is no word. */
      dayWords: orNull(text),
      /** The host counts as payable today until this time; null if the newest word of the census is not `payable`. */
      payableUntilMs: orNull(integer),
      /** UTC days on which the last seven days count as payable if no further word comes: " 20513 20514 ". */
      payableWeekDays: orNull(text),
    },
    key: ['host'],
    // A synced row of `changes` follows.
    syncsLater: () => true,
  }),
  changes: defineTable({
    name: 'changes',
    columns: {
      /** 1, 2, 3 … without gaps. Readers of the feed do not get this number. */
      n: integer,
      attempt: text,
      /** The scan whose publication made the change. Unique, so a repeated publication adds no second change. */
      scanId: text,
      changeType: textOf<ChangeType>(),
      /** Strictly increasing with `n`. */
      changedAtMs: integer,
      host: text,
      /** The grade of the host's current record after this change. */
      grade: textOf<Grade>(),
      score: integer,
      checksVersion: text,
      previousGrade: orNull(textOf<Grade>()),
      previousScore: orNull(integer),
      /** Null in rows of older releases. */
      scannerVersion: orNull(text),
      /** True if no reader may see the change: the host was not listed, or a census scan found the same grade again. */
      hidden: boolean,
    },
    key: ['n'],
    unique: [['scanId']],
    indexes: [['changedAtMs'], ['hidden', 'changedAtMs'], ['host', 'n']],
  }),
  /** Each row is one version of the settings and the proof of a host's owner. `n` counts the rows of all hosts. */
  owners: defineTable({
    name: 'owners',
    columns: {
      n: integer,
      attempt: text,
      host: text,
      atMs: integer,
      listed: boolean,
      /** `listedBy`, `suppressedBy`: hash of the token whose listing key set the member before it; null if no key did. */
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
  /** The last valid answers of third parties: an index, listing or chain (`source`), and what it was asked (`key`). */
  snapshots: defineTable({
    name: 'snapshots',
    columns: { source: text, key: text, takenAtMs: integer, data: text },
    key: ['source', 'key'],
    indexes: [['takenAtMs']],
  }),
  /** The counters that each host raises in the statistics of a UTC day. They are removed when the day is folded. */
  hostDays: defineTable({
    name: 'host_days',
    columns: {
      /** Days since the epoch. */
      day: integer,
      host: text,
      /** The scan whose publication inserted the row. */
      scanId: text,
      tally: text,
    },
    key: ['day', 'host'],
    // A synced row of `changes` follows.
    syncsLater: () => true,
    unique: [['scanId']],
  }),
  /** Counters of a folded day, summed over all hosts. A later row includes the sums of days with few origins. */
  daySums: defineTable({
    name: 'day_sums',
    columns: { day: integer, attempt: text, sums: text },
    key: ['day'],
  }),
  /**
   * The keys that sign reports, numbered 1, 2, 3 … Each is in use from its `sinceMs` until that of the next key. `kid` is
   * the RFC 7638 thumbprint of the key, and `publicKey` is base64url. `privateKey` is PKCS#8 PEM if an instance made the
   * key; null if the operator keeps the key in `SIGNING_KEY`.
   */
  signingKeys: defineTable({
    name: 'signing_keys',
    columns: { n: integer, kid: text, publicKey: text, privateKey: orNull(text), sinceMs: integer },
    key: ['n'],
  }),
  /** Each row is one version of a host's watch. */
  watches: defineTable({
    name: 'watches',
    columns: {
      host: text,
      /** Number of the version: 1, 2, 3 … for each host. The version with the greatest number is current. */
      n: integer,
      attempt: text,
      atMs: integer,
      /** False after a later version has replaced this one. */
      isCurrent: boolean,
      /** Time of the next look at the origin; null if no look is planned. */
      lookAtMs: orNull(integer),
      /** True if the next look only has to confirm the finding of an earlier look. Confirming looks come first. */
      isConfirming: boolean,
      /** Time of the next delivery attempt; null if no event waits. */
      sendAtMs: orNull(integer),
      endedAtMs: orNull(integer),
      /** The host and port to which events are delivered. */
      receiver: text,
      /** Registrable domain of the watched host. */
      domain: text,
      /** Hash of the address block of the client that started the watch. */
      client: text,
      /** True after the receiver has agreed. The watch then counts against the receiver's limit. */
      holdsPlace: boolean,
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
  /** Long texts to which versions of a watch refer. Version `n` added the text. */
  watchTexts: defineTable({
    name: 'watch_texts',
    columns: { id: text, host: text, n: integer, attempt: text, text },
    key: ['id'],
    // A synced row of `watches` follows.
    syncsLater: () => true,
    indexes: [['host', 'n']],
  }),
};

export type Tables = TablesOf<typeof TABLES>;

export type Row<Name extends keyof typeof TABLES> = RowOf<(typeof TABLES)[Name]>;
