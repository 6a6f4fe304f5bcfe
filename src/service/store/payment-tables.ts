import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { boolean, bytes, defineTable, integer, objectOf, orNull, text, textOf } from './table.ts';

/** Identifies one process of this service. Rows that a process writes name it as their `owner`. */
export type InstanceId = {
  /** Name of the machine. */
  readonly host: string;
  /** Random, new at every start. */
  readonly boot: string;
};

export function newInstanceId(): InstanceId {
  return { host: hostname(), boot: randomUUID() };
}

export type LedgerState =
  | 'claimed'
  | 'computed'
  | 'settling'
  | 'settled'
  | 'published'
  | 'released'
  | 'failed'
  | 'unknown';

/**
 * The meaning of a key's last state for the next call that presents the same authorization.
 * - `free`: the authorization may be used as if we had never received it.
 * - `working`: a call has claimed the key, and no payment was sent.
 * - `in_doubt`: a payment was sent and may have moved money. Only the facilitator or the blockchain knows.
 * - `paid`: the money has moved, and the payer may have the answer.
 * - `failed`: it is proved that the authorization can never pay us.
 */
export type Progress = 'free' | 'working' | 'in_doubt' | 'paid' | 'failed';

type StateRule = { readonly meaning: Progress; readonly next: readonly LedgerState[] };

/**
 * The meaning of each state, and the states that may follow it. After `settling` money may have moved, so only a
 * definite refusal of the first attempt to send the payment may free the key (`released`). A route that publishes
 * nothing still writes `published` after `settled`, so that all routes follow one rule.
 */
export const STATE_RULES: Readonly<Record<LedgerState, StateRule>> = {
  claimed: { meaning: 'working', next: ['computed', 'released'] },
  computed: { meaning: 'working', next: ['settling', 'released'] },
  settling: { meaning: 'in_doubt', next: ['settled', 'released', 'unknown', 'failed'] },
  settled: { meaning: 'paid', next: ['published'] },
  published: { meaning: 'paid', next: [] },
  released: { meaning: 'free', next: ['claimed'] },
  failed: { meaning: 'failed', next: [] },
  // Each further attempt to send the payment writes this state before it, and again after it with the result.
  unknown: { meaning: 'in_doubt', next: ['unknown', 'settled', 'failed'] },
};

/**
 * States whose steps need no sync of their own. The sync of `settling` also covers `claimed` and `computed`, and no
 * payment is sent before that sync. If a crash loses `published`, recovery writes it again after `settled`.
 */
const UNSYNCED_STATES: readonly LedgerState[] = ['claimed', 'computed', 'published'];

// `Object.keys` loses the type of the names.
export const LEDGER_STATES = Object.keys(STATE_RULES) as readonly LedgerState[];

/** The process that wrote the row. */
const owner = objectOf<keyof InstanceId>('host', 'boot');

export const PAYMENT_TABLES = {
  ledger: defineTable({
    name: 'ledger',
    columns: {
      /** `(network, asset, from, nonce)` of the decoded authorization as one string, in canonical letter case. */
      key: text,
      /** 1 for the first step of a key; otherwise one more than the last step that the writer has read. */
      step: integer,
      state: textOf<LedgerState>(),
      /** Random, at least 128 bits, new for every step. A repeated try of the same step uses the same value. */
      attempt: text,
      /** Database time at which the row was written, ms. */
      atMs: integer,
      owner,
      /** The address that signed, in canonical letter case. */
      payer: text,
      /** Route and canonical request as one string. */
      request: text,
      /** End of the authorization, ms since the epoch. */
      validBeforeMs: integer,
      /** The scan that the paid call computes or uses. Its result is not purged while the payment needs it. */
      scanId: orNull(text),
      /** The stored answer. It is not purged while the payment needs it. */
      answerId: orNull(text),
      /** Price, signed payload, reason, transaction and everything else that recovery needs. */
      data: text,
    },
    key: ['key', 'step'],
    syncsLater: ({ state }) => UNSYNCED_STATES.includes(state),
    indexes: [['payer', 'state', 'atMs'], ['state', 'atMs'], ['answerId'], ['scanId']],
  }),
  /** Marks a key whose claim at step `claimStep` may be unfinished. */
  ledgerOpen: defineTable({
    name: 'ledger_open',
    columns: { key: text, claimStep: integer, payer: text, request: text, sinceMs: integer },
    key: ['key', 'claimStep'],
    // Becomes durable with the claim, which is inserted next.
    syncsLater: () => true,
    indexes: [['sinceMs'], ['payer', 'request']],
  }),
  /** Marks a key whose answer was written to a client in full. */
  ledgerWritten: defineTable({
    name: 'ledger_written',
    columns: { key: text, atMs: integer },
    key: ['key'],
  }),
  answers: defineTable({
    name: 'answers',
    columns: {
      answerId: text,
      startedAtMs: integer,
      /** The scan whose report the packed pieces refer to; null if the pieces are the whole body. */
      reportOf: orNull(text),
      /** The columns from `status` to `bytes` are null until the whole body is stored. */
      status: orNull(integer),
      headers: orNull(text),
      bodyBytes: orNull(integer),
      bodySha256: orNull(text),
      storedBytes: orNull(integer),
      storedAtMs: orNull(integer),
      /** The stored bytes of the body; null if they are in `answer_chunks`. */
      bytes: orNull(bytes),
    },
    key: ['answerId'],
    // The payment's step `settling` is inserted next, and its sync covers this row.
    syncsLater: () => true,
    indexes: [['startedAtMs'], ['reportOf']],
  }),
  /** The pieces of long answers, numbered by `n` from 0. */
  answerChunks: defineTable({
    name: 'answer_chunks',
    columns: { answerId: text, n: integer, bytes },
    key: ['answerId', 'n'],
    // Becomes durable with its answer.
    syncsLater: () => true,
  }),
  /**
   * Payment identifiers. Each row binds one to a ledger key; `n` counts these links from 1. The scope is network, payer
   * and id as one text, and `request` is as in the ledger.
   */
  identifiers: defineTable({
    name: 'identifiers',
    columns: { scope: text, n: integer, request: text, key: text, attempt: text, atMs: integer },
    key: ['scope', 'n'],
    indexes: [['atMs']],
  }),
  /** Scans that a payer has not paid. `isDebt` is false while a scan runs, and if a fault of ours kept it unpaid. */
  unpaid: defineTable({
    name: 'unpaid',
    columns: { payer: text, scanId: text, host: text, isDebt: boolean, atMs: integer },
    key: ['payer', 'scanId'],
    indexes: [['payer', 'atMs'], ['atMs']],
  }),
  /** Leases of work, and leases that count events against a limit. Each is number `n` of its scope. */
  leases: defineTable({
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
    syncsLater: (row) => row.endsWithOwner,
  }),
};
