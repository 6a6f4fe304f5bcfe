/** The shape of every document that this store writes. */
import type { Grade } from '../../model/report.ts';
import type { ChangeType } from '../contract/changes.ts';
import type { MembershipSettings } from '../contract/instances.ts';
import type { LedgerState } from '../contract/ledger.ts';
import type { ListingSettings } from '../contract/listing.ts';
import type { Owner } from '../contract/owner.ts';

/*
 * The rows as they are stored. Free-form JSON is kept as text: its member names may hold what
 * MongoDB reserves ("$", "."), and its numbers must come back as they went in.
 */

export type LedgerDocument = {
  readonly _id: string;
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
export type OpenDocument = {
  readonly _id: string;
  readonly key: string;
  readonly claimStep: number;
  readonly payer: string;
  readonly request: string;
  readonly sinceMs: number;
};

export type WrittenDocument = {
  /** The ledger key. */
  readonly _id: string;
  readonly atMs: number;
};

export type AnswerDocument = {
  readonly _id: string;
  readonly startedAtMs: number;
  /** The scan against whose report the pieces are packed; null where they are the body itself. */
  readonly reportOf: string | null;
  /** Null until the whole body is there. */
  readonly manifest: {
    readonly status: number;
    readonly headers: string;
    readonly bodyBytes: number;
    readonly bodySha256: string;
    readonly storedBytes: number;
    readonly storedAtMs: number;
  } | null;
};

export type ChunkDocument = {
  readonly _id: string;
  readonly answerId: string;
  readonly n: number;
  readonly bytes: Uint8Array;
};

export type IdentifierDocument = {
  readonly _id: string;
  readonly scope: string;
  readonly n: number;
  readonly request: string;
  readonly key: string;
  readonly attempt: string;
  readonly atMs: number;
};

export type ResultDocument = {
  /** The scan id. */
  readonly _id: string;
  readonly host: string;
  readonly scannedAtMs: number;
  readonly submittedUrl: string;
};

export type ReportDocument = {
  /** The scan id. */
  readonly _id: string;
  readonly scannedAtMs: number;
  /** Its JSON, packed; apart from the result, because answers refer to it for longer. */
  readonly report: Uint8Array;
};

export type UnpaidDocument = {
  readonly _id: string;
  readonly payer: string;
  readonly scanId: string;
  readonly host: string;
  readonly isDebt: boolean;
  readonly atMs: number;
};

export type HistoryDocument = {
  readonly _id: string;
  readonly attempt: string;
  readonly host: string;
  readonly seq: number;
  readonly scanId: string;
  readonly scannedAtMs: number;
  readonly grade: Grade;
  readonly score: number;
  readonly checksVersion: string;
  /** The smallest scan time up to this row. */
  readonly firstSeenAtMs: number;
  readonly scan: string;
};

export type RecordDocument = {
  /** The host. */
  readonly _id: string;
  readonly scanId: string;
  readonly scannedAtMs: number;
  readonly grade: Grade;
  readonly score: number;
  readonly category: string;
  readonly firstSeenAtMs: number;
  readonly scanCount: number;
  readonly scan: string;
};

export type ChangeDocument = {
  /** The number of the change as text. */
  readonly _id: string;
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
};

export type SlotDocument = {
  /** The attempt: a number that is taken again is a row of another id. */
  readonly _id: string;
  readonly scope: string;
  readonly n: number;
  readonly attempt: string;
  readonly owner: Owner;
  readonly endsWithOwner: boolean;
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
  readonly group: string | null;
  readonly data: string | null;
};

export type ConfirmDocument = {
  /** The host. */
  readonly _id: string;
  readonly atMs: number;
  readonly tokenHash: string;
  readonly keyHash: string;
  readonly client: string;
};

export type ListingDocument = {
  readonly _id: string;
  readonly setting: keyof ListingSettings;
  readonly host: string;
  readonly value: boolean;
  readonly atMs: number;
  readonly keyedBy: string | null;
};

/** A random version of what many rows show together. */
export type VersionDocument = {
  readonly _id: 'preferences';
  readonly version: string;
};

export type LeaseDocument = {
  readonly _id: string;
  readonly name: string;
  readonly turn: number;
  readonly owner: Owner;
  readonly attempt: string;
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
  readonly releasedAtMs: number | null;
};

export type LimitDocument = {
  readonly _id: string;
  readonly count: number;
  readonly resetAtMs: number;
};

export type SnapshotDocument = {
  readonly _id: string;
  readonly takenAtMs: number;
  readonly data: string;
};

export type VerdictDocument = {
  readonly _id: string;
  readonly host: string;
  readonly checkId: string;
  readonly atMs: number;
  readonly data: string;
};

export type InstanceDocument = {
  /** The boot id. */
  readonly _id: string;
  readonly host: string;
  readonly beatAtMs: number;
  /** False while it is still finding out whether it may join. */
  readonly joined: boolean;
  readonly settings: MembershipSettings;
};

export type MetaDocument = {
  readonly _id: string;
  readonly version: number;
};
