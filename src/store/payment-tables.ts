import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { boolean, bytes, defineTable, integer, objectOf, orNull, text, textOf } from './table.ts';

/** `boot` is new at every start, so a restarted process is another owner. */
export type InstanceId = {
  readonly host: string;
  readonly boot: string;
};

/** Identifies this process by the machine's name and a random id of this start. */
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
 * Meaning of a state for a call that finds the key.
 * - `free`: the authorization is as if it had never been seen.
 * - `working`: claimed, and nothing was sent.
 * - `in_doubt`: money may have moved; only the facilitator or the chain can tell.
 * - `paid`: the money has moved, and the answer is the payer's.
 * - `failed`: it is proved that the authorization can never pay us.
 */
export type Progress = 'free' | 'working' | 'in_doubt' | 'paid' | 'failed';

type StateRule = { readonly meaning: Progress; readonly next: readonly LedgerState[] };

/**
 * The meaning of each state, and the states that may follow it. After `settling` money may have moved, so only a definite
 * refusal of the first send (`released`) frees the key. A route that publishes nothing still writes `published` after
 * `settled`, so that one rule holds for all routes.
 */
export const STATE_RULES: Readonly<Record<LedgerState, StateRule>> = {
  claimed: { meaning: 'working', next: ['computed', 'released'] },
  computed: { meaning: 'working', next: ['settling', 'released'] },
  settling: { meaning: 'in_doubt', next: ['settled', 'released', 'unknown', 'failed'] },
  settled: { meaning: 'paid', next: ['published'] },
  published: { meaning: 'paid', next: [] },
  released: { meaning: 'free', next: ['claimed'] },
  failed: { meaning: 'failed', next: [] },
  // Written twice for each further send: before it, and after it with its result.
  unknown: { meaning: 'in_doubt', next: ['unknown', 'settled', 'failed'] },
};

/**
 * States whose steps need no sync of their own. At `claimed` and `computed` nothing is sent yet, and the sync of `settling` covers
 * both. If `published` is lost, a recovery finds `settled` and writes it again.
 */
const UNSYNCED_STATES: readonly LedgerState[] = ['claimed', 'computed', 'published'];

// `Object.keys` loses the type of the names.
export const LEDGER_STATES = Object.keys(STATE_RULES) as readonly LedgerState[];

const owner = objectOf<keyof InstanceId>('host', 'boot');

/** The tables of payments and slots. */
export const PAYMENT_TABLES = {
  ledger: defineTable({
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
    syncsLater: ({ state }) => UNSYNCED_STATES.includes(state),
    indexes: [['payer', 'state', 'atMs'], ['state', 'atMs'], ['answerId'], ['scanId']],
  }),
  /** Marks a key whose claim at this step may be unfinished. */
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
      /** This column and the next ones are null until the whole body is stored. */
      status: orNull(integer),
      headers: orNull(text),
      bodyBytes: orNull(integer),
      bodySha256: orNull(text),
      storedBytes: orNull(integer),
      storedAtMs: orNull(integer),
      /** The kept bytes of the body; null if it is stored in pieces. */
      bytes: orNull(bytes),
    },
    key: ['answerId'],
    // The payment's step `settling` is inserted next, and its sync covers this row.
    syncsLater: () => true,
    indexes: [['startedAtMs'], ['reportOf']],
  }),
  answerChunks: defineTable({
    name: 'answer_chunks',
    columns: { answerId: text, n: integer, bytes },
    key: ['answerId', 'n'],
    // Becomes durable with its answer.
    syncsLater: () => true,
  }),
  /** The scope is network, payer and id as one text. */
  identifiers: defineTable({
    name: 'identifiers',
    columns: { scope: text, n: integer, request: text, key: text, attempt: text, atMs: integer },
    key: ['scope', 'n'],
    indexes: [['atMs']],
  }),
  unpaid: defineTable({
    name: 'unpaid',
    columns: { payer: text, scanId: text, host: text, isDebt: boolean, atMs: integer },
    key: ['payer', 'scanId'],
    indexes: [['payer', 'atMs'], ['atMs']],
  }),
  slots: defineTable({
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
