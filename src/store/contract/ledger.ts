import type { JsonObject } from '../../model/json.ts';
import type { InsertOutcome } from './insert-outcome.ts';
import type { Owner } from './owner.ts';

export const LEDGER_STATES = [
  'claimed',
  'computed',
  'settling',
  'settled',
  'published',
  'released',
  'failed',
  'unknown',
] as const;

export type LedgerState = (typeof LEDGER_STATES)[number];

/** A step as its writer gives it; the store adds the time and the owner. */
export type LedgerAppend = {
  /** Decoded `(network, asset, from, nonce)` as one string, canonical in case; never header bytes. */
  readonly key: string;
  /** 1 for the first step of a key, then the last step that the writer has seen + 1. */
  readonly step: number;
  readonly state: LedgerState;
  /** Random, at least 128 bits, new for every step; kept the same when a step is tried again. */
  readonly attempt: string;
  /** The address that signed, canonical in case. */
  readonly payer: string;
  /** Route and canonical request as one string. */
  readonly request: string;
  /** End of the authorization, ms since the epoch. */
  readonly validBeforeMs: number;
  /** The scan that this call computes or uses, once known: keeps its result from being purged. */
  readonly scanId?: string | undefined;
  /** The stored answer, once there is one: keeps it from being purged too early. */
  readonly answerId?: string | undefined;
  /** Price, signed payload, reason, transaction and whatever else recovery needs. */
  readonly data: JsonObject;
};

export type LedgerRow = LedgerAppend & {
  /** Database time at which the row was written, ms. */
  readonly atMs: number;
  readonly owner: Owner;
};

export type LedgerEntry = {
  readonly key: string;
  /**
   * Steps of the current claim, ascending, from the last `claimed` on; never empty. Earlier claims were
   * released, and the current claim repeats in its own data whatever is still needed of them.
   */
  readonly rows: readonly LedgerRow[];
  /** The last of `rows`. */
  readonly last: LedgerRow;
  /** Time at which an answer for this key was written to a client in full, or null. */
  readonly writtenAtMs: number | null;
};

/** Append-only steps of payments, `(key, step)` unique. Nothing is ever updated. */
export type LedgerStore = {
  /** Durable (synced, majority) before it returns. On `lost` the writer stops for good. */
  append(row: LedgerAppend): Promise<InsertOutcome>;

  /** Returns the current claim of a key, or null. The cost does not grow with the number of earlier claims. */
  entry(key: string): Promise<LedgerEntry | null>;

  /** Returns every step of a key, ascending, also those of released claims. Meant for audits. */
  history(key: string): Promise<readonly LedgerRow[]>;

  /**
   * Every key whose last step is not terminal, oldest claim first, each once. Rows are read in
   * batches, so that a long list does not have to fit in memory.
   */
  unfinished(): AsyncIterable<LedgerEntry>;

  /**
   * Keys of this payer and request that are unfinished (however old), or were settled at or after
   * `sinceMs`. Newest last step first. Released keys are not read: any caller can write them for free.
   * `unwritten`: without those whose answer was written in full.
   */
  recent(query: {
    readonly payer: string;
    readonly request: string;
    readonly sinceMs: number;
    readonly unwritten?: boolean;
  }): Promise<readonly LedgerEntry[]>;

  /** Returns the steps `unknown` of all keys of this payer that were written at or after `sinceMs`. */
  doubts(query: {
    readonly payer: string;
    readonly sinceMs: number;
  }): Promise<readonly LedgerRow[]>;

  /** Number of keys of this payer that were settled at or after `sinceMs`; counts up to `limit`. */
  settledCount(query: {
    readonly payer: string;
    readonly sinceMs: number;
    readonly limit: number;
  }): Promise<number>;

  /** Records that an answer for this key was written in full. The first mark stays. */
  markWritten(key: string): Promise<void>;
};
