import type { Grade } from '../../model/report.ts';
import type { ChangeType } from '../contract/changes.ts';
import type { LedgerState } from '../contract/ledger.ts';
import type { Owner } from '../contract/owner.ts';

/*
 * Free-form JSON is kept as text: its member names may hold what a database reserves ("$", "."), and its numbers must
 * come back as they went in.
 */

export type LedgerTableRow = {
  readonly key: string;
  readonly step: number;
  readonly state: LedgerState;
  readonly attempt: string;
  readonly atMs: number;
  readonly owner: Owner;
  readonly payer: string;
  readonly request: string;
  readonly validBeforeMs: number;
  readonly scanId: string | null;
  readonly answerId: string | null;
  readonly data: string;
};

/** Says that a key may be unfinished since the claim at this step. */
export type OpenRow = {
  readonly key: string;
  readonly claimStep: number;
  readonly payer: string;
  readonly request: string;
  readonly sinceMs: number;
};

/** An answer for this key was written to a client in full. */
export type WrittenRow = {
  readonly key: string;
  readonly atMs: number;
};

export type AnswerRow = {
  readonly answerId: string;
  readonly startedAtMs: number;
  /** The scan against whose report the pieces are packed; null where they are the body itself. */
  readonly reportOf: string | null;
  /** From here on null until the whole body is there. */
  readonly status: number | null;
  readonly headers: string | null;
  readonly bodyBytes: number | null;
  readonly bodySha256: string | null;
  readonly storedBytes: number | null;
  readonly storedAtMs: number | null;
  /** What is kept of the body; null where it stands in pieces. */
  readonly bytes: Uint8Array | null;
};

export type AnswerChunkRow = {
  readonly answerId: string;
  readonly n: number;
  readonly bytes: Uint8Array;
};

export type ResultRow = {
  readonly scanId: string;
  readonly host: string;
  readonly scannedAtMs: number;
  readonly submittedUrl: string;
};

export type ReportRow = {
  readonly scanId: string;
  readonly scannedAtMs: number;
  /** Its JSON, packed; apart from the result, because answers refer to it for longer. */
  readonly report: Uint8Array;
};

export type IdentifierRow = {
  /** Network, payer and id as one text. */
  readonly scope: string;
  readonly n: number;
  readonly request: string;
  readonly key: string;
  readonly attempt: string;
  readonly atMs: number;
};

export type UnpaidRow = {
  readonly payer: string;
  readonly scanId: string;
  readonly host: string;
  readonly isDebt: boolean;
  readonly atMs: number;
};

export type HistoryTableRow = {
  readonly host: string;
  readonly seq: number;
  readonly attempt: string;
  readonly scanId: string;
  readonly scannedAtMs: number;
  readonly grade: Grade;
  readonly score: number;
  readonly checksVersion: string;
  /** Null once the record has it for long. */
  readonly scan: string | null;
};

/** The newest scan of a host, made of its history. */
export type RecordRow = {
  readonly host: string;
  readonly scanId: string;
  readonly scannedAtMs: number;
  readonly grade: Grade;
  readonly score: number;
  readonly category: string;
  readonly firstSeenAtMs: number;
  readonly scanCount: number;
  /** Some scan has had an answer of the origin. */
  readonly reached: boolean;
  readonly scan: string;
};

export type ChangeRow = {
  readonly n: number;
  readonly attempt: string;
  readonly scanId: string;
  readonly changeType: ChangeType;
  readonly changedAtMs: number;
  readonly host: string;
  readonly grade: Grade;
  readonly score: number;
  readonly checksVersion: string;
  readonly previousGrade: Grade | null;
  readonly previousScore: number | null;
  /** The host was not listed then: no reader is ever told of it. */
  readonly hidden: boolean;
};

/** What an owner wants and has proved, whole, as it is from this number on. */
export type OwnerRow = {
  readonly n: number;
  readonly attempt: string;
  readonly host: string;
  readonly atMs: number;
  readonly listed: boolean;
  /** Hash of the token whose listing key set it. */
  readonly listedBy: string | null;
  readonly enrichmentSuppressed: boolean;
  readonly suppressedBy: string | null;
  readonly confirmedAtMs: number | null;
  readonly tokenHash: string | null;
  readonly keyHash: string | null;
  readonly client: string | null;
};

export type SlotTableRow = {
  readonly attempt: string;
  readonly scope: string;
  readonly n: number;
  readonly owner: Owner;
  readonly endsWithOwner: boolean;
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
  readonly group: string | null;
  readonly data: string | null;
};

export type LeaseRow = {
  readonly name: string;
  readonly turn: number;
  readonly owner: Owner;
  readonly attempt: string;
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
  readonly releasedAtMs: number | null;
};

export type SnapshotRow = {
  readonly source: string;
  readonly key: string;
  readonly takenAtMs: number;
  readonly data: string;
};

export type VerdictRow = {
  readonly host: string;
  readonly checkId: string;
  readonly atMs: number;
  readonly data: string;
};
