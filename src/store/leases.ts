import type { EngineContext } from './context.ts';
import type { Owner } from './payment-tables.ts';
import { decideNext } from './table.ts';
import type { Row } from './tables.ts';

export type Lease = {
  readonly name: string;
  /** 1, 2, 3 … for each name: who holds the greatest turn holds the lease. */
  readonly turn: number;
  readonly owner: Owner;
  readonly attempt: string;
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
};

export type LeaseOutcome =
  | { readonly held: true; readonly lease: Lease }
  | { readonly held: false; readonly heldBy: Lease };

/**
 * One holder per name among all instances (`scan:<host>`, `refresh:<source>`). Each turn is one insert
 * of `(name, turn)`. A turn is over when it was released, has expired, or its owner is silent.
 */
export type LeaseStore = ReturnType<typeof leasesOn>;

export function leasesOn({ tables, owner, now, isAlive }: EngineContext) {
  const { leases } = tables;
  return {
    /** Takes the next turn if the last one is over. `attempt` is random, the same when tried again. */
    async take({
      name,
      attempt,
      lifetimeMs,
    }: {
      readonly name: string;
      readonly attempt: string;
      readonly lifetimeMs: number;
    }): Promise<LeaseOutcome> {
      let last = await lastTurn(name);
      for (;;) {
        if (last && !(await isOver(last))) {
          return last.attempt === attempt
            ? { held: true, lease: last }
            : { held: false, heldBy: last };
        }
        const turn: number = (last?.turn ?? 0) + 1;
        const takenAtMs = now();
        const expiresAtMs = takenAtMs + lifetimeMs;
        const times = { takenAtMs, expiresAtMs, releasedAtMs: null };
        const lease = { name, turn, owner, attempt, ...times };
        const previous = turn === 1 ? null : ([name, turn - 1] as const);
        const outcome = await decideNext(leases, lease, previous, { name, turn, attempt });
        if (outcome === 'won') return { held: true, lease };
        // Another owner took this turn, or a purge restarted the sequence: the last turn is read again.
        last = (await leases.get(name, turn)) ?? (await lastTurn(name));
      }
    },

    /** True while this very turn is the last one, and not over. */
    async isHeld({ name, turn, attempt }: Lease): Promise<boolean> {
      const last = await lastTurn(name);
      return last?.turn === turn && last.attempt === attempt && !(await isOver(last));
    },

    /** Ends the own turn; does nothing to a later one. */
    async release({ name, turn, attempt }: Lease): Promise<void> {
      // Only the owner writes to its own turn, so this update cannot race.
      const releasedAtMs = now();
      await leases.set({ name, turn }, { releasedAtMs }, { attempt, releasedAtMs: null });
    },
  };

  function lastTurn(name: string): Promise<Row<'leases'> | null> {
    return leases.first({ name }, { order: [['turn', 'desc']] });
  }

  async function isOver({ releasedAtMs, expiresAtMs, owner: holder }: Row<'leases'>) {
    return releasedAtMs !== null || expiresAtMs <= now() || !(await isAlive(holder));
  }
}
