import {
  LEDGER_STATES,
  type LedgerEntry,
  type LedgerRow,
  type LedgerState,
} from '../contract/ledger.ts';
import { RETENTION_MS } from './retention.ts';

/**
 * Recovery ignores a key whose last step is terminal. A route that publishes nothing still writes
 * `published` after `settled`, so that one rule holds for all routes.
 */
const IS_TERMINAL: Readonly<Record<LedgerState, boolean>> = {
  claimed: false,
  computed: false,
  settling: false,
  settled: false,
  unknown: false,
  published: true,
  released: true,
  failed: true,
};

export const TERMINAL_STATES: readonly LedgerState[] = LEDGER_STATES.filter(isTerminal);

export function isTerminal(state: LedgerState): boolean {
  return IS_TERMINAL[state];
}

/** Every step of one key, also those of released claims. */
export type LedgerHistory = {
  readonly key: string;
  /** Sorted by step, ascending; never empty. */
  readonly rows: readonly LedgerRow[];
  /** The last of `rows`. */
  readonly last: LedgerRow;
};

/** Sorts the rows of one key; null for no rows. */
export function ledgerHistory(rows: readonly LedgerRow[]): LedgerHistory | null {
  const sorted = rows.toSorted((a, b) => a.step - b.step);
  const last = sorted.at(-1);
  return last === undefined ? null : { key: last.key, rows: sorted, last };
}

/** Selects the last claim of one key from rows in any order, which must hold all its steps; null for no rows. */
export function ledgerEntry(
  rows: readonly LedgerRow[],
  writtenAtMs: number | null,
): LedgerEntry | null {
  const history = ledgerHistory(rows);
  if (history === null) return null;
  const claim = history.rows.findLastIndex((row) => row.state === 'claimed');
  return { ...history, rows: history.rows.slice(Math.max(0, claim)), writtenAtMs };
}

/**
 * The steps of a key may be purged once the key and its authorization have ended for long enough; one hour is
 * enough where the payment was never sent.
 */
export function ledgerHistoryExpired({ rows, last }: LedgerHistory, nowMs: number): boolean {
  if (!isTerminal(last.state)) return false;
  const lastAtMs = Math.max(...rows.map((row) => row.atMs));
  if (last.state === 'released' && rows.every((row) => row.state !== 'settling')) {
    return lastAtMs + RETENTION_MS.unsentKey <= nowMs;
  }
  const validBeforeMs = Math.max(...rows.map((row) => row.validBeforeMs));
  return Math.max(lastAtMs, validBeforeMs) + RETENTION_MS.ledgerKey <= nowMs;
}
