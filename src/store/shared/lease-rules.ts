/** When a turn of a lease is over. */
import type { Lease } from '../contract/leases.ts';

/** A turn as it is stored. */
export type LeaseTurn = Lease & {
  readonly releasedAtMs: number | null;
};

/** Whether the next turn may be taken. */
export function leaseOver(turn: LeaseTurn, ownerAlive: boolean, nowMs: number): boolean {
  return turn.releasedAtMs !== null || turn.expiresAtMs <= nowMs || !ownerAlive;
}

export function leaseOf(turn: LeaseTurn): Lease {
  const { name, turn: number, owner, attempt, takenAtMs, expiresAtMs } = turn;
  return { name, turn: number, owner, attempt, takenAtMs, expiresAtMs };
}
