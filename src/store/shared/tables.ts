import type * as rows from './rows.ts';
import type { Table, TableSpec } from './table.ts';

/** The rows of every table that both stores have. */
export type Rows = {
  readonly ledger: rows.LedgerTableRow;
  readonly ledgerOpen: rows.OpenRow;
  readonly ledgerWritten: rows.WrittenRow;
  readonly answers: rows.AnswerRow;
  readonly answerChunks: rows.AnswerChunkRow;
  readonly results: rows.ResultRow;
  readonly reports: rows.ReportRow;
  readonly identifiers: rows.IdentifierRow;
  readonly unpaid: rows.UnpaidRow;
  readonly history: rows.HistoryTableRow;
  readonly records: rows.RecordRow;
  readonly changes: rows.ChangeRow;
  readonly owners: rows.OwnerRow;
  readonly slots: rows.SlotTableRow;
  readonly leases: rows.LeaseRow;
  readonly snapshots: rows.SnapshotRow;
  readonly verdicts: rows.VerdictRow;
};

export type Tables = { readonly [Name in keyof Rows]: Table<Rows[Name]> };
export type TableSpecs = { readonly [Name in keyof Rows]: TableSpec<Rows[Name]> };

/** Every table, its keys and what it is read by. */
export const TABLES: TableSpecs = {
  ledger: {
    name: 'ledger',
    columns: {
      key: 'text',
      step: 'integer',
      state: 'text',
      attempt: 'text',
      atMs: 'integer',
      owner: 'owner',
      payer: 'text',
      request: 'text',
      validBeforeMs: 'integer',
      scanId: 'text or null',
      answerId: 'text or null',
      data: 'text',
    },
    key: ['key', 'step'],
    indexes: [['payer', 'state', 'atMs'], ['state', 'atMs'], ['atMs'], ['answerId'], ['scanId']],
  },
  ledgerOpen: {
    name: 'ledger_open',
    columns: {
      key: 'text',
      claimStep: 'integer',
      payer: 'text',
      request: 'text',
      sinceMs: 'integer',
    },
    key: ['key', 'claimStep'],
    // The claim follows.
    passing: () => true,
    indexes: [['sinceMs'], ['payer', 'request']],
  },
  ledgerWritten: {
    name: 'ledger_written',
    columns: { key: 'text', atMs: 'integer' },
    key: ['key'],
  },
  answers: {
    name: 'answers',
    columns: {
      answerId: 'text',
      startedAtMs: 'integer',
      reportOf: 'text or null',
      status: 'integer or null',
      headers: 'text or null',
      bodyBytes: 'integer or null',
      bodySha256: 'text or null',
      storedBytes: 'integer or null',
      storedAtMs: 'integer or null',
      bytes: 'bytes or null',
    },
    key: ['answerId'],
    indexes: [['startedAtMs'], ['reportOf']],
  },
  answerChunks: {
    name: 'answer_chunks',
    columns: { answerId: 'text', n: 'integer', bytes: 'bytes' },
    key: ['answerId', 'n'],
  },
  results: {
    name: 'results',
    columns: { scanId: 'text', host: 'text', scannedAtMs: 'integer', submittedUrl: 'text' },
    key: ['scanId'],
    indexes: [['host', 'scannedAtMs'], ['scannedAtMs']],
  },
  reports: {
    name: 'reports',
    columns: { scanId: 'text', scannedAtMs: 'integer', report: 'bytes' },
    key: ['scanId'],
    // The result follows.
    passing: () => true,
    indexes: [['scannedAtMs']],
  },
  identifiers: {
    name: 'identifiers',
    columns: {
      scope: 'text',
      n: 'integer',
      request: 'text',
      key: 'text',
      attempt: 'text',
      atMs: 'integer',
    },
    key: ['scope', 'n'],
    indexes: [['atMs']],
  },
  unpaid: {
    name: 'unpaid',
    columns: {
      payer: 'text',
      scanId: 'text',
      host: 'text',
      isDebt: 'boolean',
      atMs: 'integer',
    },
    key: ['payer', 'scanId'],
    indexes: [['payer', 'atMs'], ['atMs']],
  },
  history: {
    name: 'history',
    columns: {
      host: 'text',
      seq: 'integer',
      attempt: 'text',
      scanId: 'text',
      scannedAtMs: 'integer',
      grade: 'text',
      score: 'integer',
      checksVersion: 'text',
      scan: 'text or null',
    },
    key: ['host', 'seq'],
    // The change follows.
    passing: () => true,
    unique: [['scanId']],
    indexes: [['host', 'scannedAtMs', 'scanId']],
  },
  records: {
    name: 'records',
    columns: {
      host: 'text',
      scanId: 'text',
      scannedAtMs: 'integer',
      grade: 'text',
      score: 'integer',
      category: 'text',
      firstSeenAtMs: 'integer',
      scanCount: 'integer',
      reached: 'boolean',
      scan: 'text',
    },
    key: ['host'],
    // The change follows.
    passing: () => true,
  },
  changes: {
    name: 'changes',
    columns: {
      n: 'integer',
      attempt: 'text',
      scanId: 'text',
      changeType: 'text',
      changedAtMs: 'integer',
      host: 'text',
      grade: 'text',
      score: 'integer',
      checksVersion: 'text',
      previousGrade: 'text or null',
      previousScore: 'integer or null',
      hidden: 'boolean',
    },
    key: ['n'],
    unique: [['scanId']],
    indexes: [['changedAtMs'], ['host', 'n']],
  },
  owners: {
    name: 'owners',
    columns: {
      n: 'integer',
      attempt: 'text',
      host: 'text',
      atMs: 'integer',
      listed: 'boolean',
      listedBy: 'text or null',
      enrichmentSuppressed: 'boolean',
      suppressedBy: 'text or null',
      confirmedAtMs: 'integer or null',
      tokenHash: 'text or null',
      keyHash: 'text or null',
      client: 'text or null',
    },
    key: ['n'],
    indexes: [['host', 'n'], ['listed'], ['confirmedAtMs'], ['atMs']],
  },
  slots: {
    name: 'slots',
    columns: {
      attempt: 'text',
      scope: 'text',
      n: 'integer',
      owner: 'owner',
      endsWithOwner: 'boolean',
      takenAtMs: 'integer',
      expiresAtMs: 'integer',
      group: 'text or null',
      data: 'text or null',
    },
    key: ['attempt'],
    unique: [['scope', 'n']],
    indexes: [['group'], ['expiresAtMs']],
    passing: (row) => row.endsWithOwner,
  },
  leases: {
    name: 'leases',
    columns: {
      name: 'text',
      turn: 'integer',
      owner: 'owner',
      attempt: 'text',
      takenAtMs: 'integer',
      expiresAtMs: 'integer',
      releasedAtMs: 'integer or null',
    },
    key: ['name', 'turn'],
    indexes: [['takenAtMs']],
    passing: () => true,
  },
  snapshots: {
    name: 'snapshots',
    columns: { source: 'text', key: 'text', takenAtMs: 'integer', data: 'text' },
    key: ['source', 'key'],
    indexes: [['takenAtMs']],
  },
  verdicts: {
    name: 'verdicts',
    columns: { host: 'text', checkId: 'text', atMs: 'integer', data: 'text' },
    key: ['host', 'checkId'],
    indexes: [['host'], ['atMs']],
  },
};
