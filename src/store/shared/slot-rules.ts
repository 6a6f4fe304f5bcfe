/** Which slots of a scope are free. */
import type { Slot, SlotScope } from '../contract/slots.ts';

/** A slot as it is stored. */
export type SlotRow = Slot & { readonly endsWithOwner: boolean };

export type ScopeState<Row extends SlotRow> = {
  readonly live: readonly Row[];
  /** Rows whose numbers are free again; to be deleted before they are taken. */
  readonly over: readonly Row[];
  /** Empty where the scope is full. */
  readonly free: readonly number[];
};

/** @param rows all rows of one scope */
export function scopeState<Row extends SlotRow>(
  rows: readonly Row[],
  limit: number,
  isOver: (row: Row) => boolean,
): ScopeState<Row> {
  const live = rows.filter((row) => !isOver(row)).toSorted((a, b) => a.takenAtMs - b.takenAtMs);
  const over = rows.filter((row) => isOver(row));
  // A limit that has shrunk since counts slots beyond it, too.
  if (live.length >= limit) return { live, over, free: [] };
  const taken = new Set(live.map((row) => row.n));
  const free = Array.from({ length: limit }, (_, n) => n).filter((n) => !taken.has(n));
  return { live, over, free };
}

/** When the first of them is free again. */
export function freeAgainAtMs(live: readonly Slot[]): number {
  return Math.min(...live.map((slot) => slot.expiresAtMs));
}

export function slotOf(row: SlotRow): Slot {
  const { scope, n, attempt, owner, takenAtMs, expiresAtMs, data } = row;
  return { scope, n, attempt, owner, takenAtMs, expiresAtMs, data };
}

/** One string for a scope; different scopes never make the same string. */
export function scopeText(scope: SlotScope): string {
  return JSON.stringify(scope);
}
