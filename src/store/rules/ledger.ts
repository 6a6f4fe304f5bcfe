/** What the rows of one ledger key amount to, and when they may go. */
import {
  type LedgerEntry,
  type LedgerRow,
  type LedgerState,
  TERMINAL_LEDGER_STATES,
} from '../contract/ledger.ts';
import { RETENTION_MS } from './retention.ts';

const TERMINAL: ReadonlySet<LedgerState> = new Set(TERMINAL_LEDGER_STATES);

export function isTerminal(state: LedgerState): boolean {
  return TERMINAL.has(state);
}

/** Null for no rows. Rows of one key, in any order. */
export function ledgerEntry(
  rows: readonly LedgerRow[],
  writtenAtMs: number | null,
): LedgerEntry | null {
  const sorted = rows.toSorted((a, b) => a.step - b.step);
  const last = sorted.at(-1);
  if (!last) return null;
  return { key: last.key, rows: sorted, last, writtenAtMs };
}

/**
 * Whether the steps of a key may go: it is finished, and so is its authorization, for long enough.
 * Where its payment was never sent, an hour is enough.
 */
export function ledgerEntryExpired(entry: LedgerEntry, nowMs: number): boolean {
  if (!isTerminal(entry.last.state)) return false;
  const lastAtMs = Math.max(...entry.rows.map((row) => row.atMs));
  if (entry.last.state === 'released' && entry.rows.every((row) => row.state !== 'settling')) {
    return lastAtMs + RETENTION_MS.unsentKey <= nowMs;
  }
  const validBeforeMs = Math.max(...entry.rows.map((row) => row.validBeforeMs));
  return Math.max(lastAtMs, validBeforeMs) + RETENTION_MS.ledgerKey <= nowMs;
}
