import type { Lease, LeaseStore } from '../contract/leases.ts';
import type { StoreContext } from './context.ts';
import { leaseOf, leaseOver } from './lease-rules.ts';
import type { Row } from './tables.ts';

export function leasesOn({ tables, owner, now, isAlive }: StoreContext): LeaseStore {
  const { leases } = tables;
  return {
    async take({ name, attempt, lifetimeMs }) {
      let last = await lastTurn(name);
      for (;;) {
        if (last && !(await over(last))) {
          return last.attempt === attempt
            ? { held: true, lease: leaseOf(last) }
            : { held: false, heldBy: leaseOf(last) };
        }
        const turn: number = (last?.turn ?? 0) + 1;
        const takenAtMs = now();
        const expiresAtMs = takenAtMs + lifetimeMs;
        const lease: Lease = { name, turn, owner, attempt, takenAtMs, expiresAtMs };
        const outcome = await leases.decide({ ...lease, releasedAtMs: null });
        // A purge that took the whole sequence while this turn was on its way lets another start at
        // 1. Without its predecessor the turn never counted.
        if (outcome === 'won' && (turn === 1 || (await leases.get(name, turn - 1)))) {
          return { held: true, lease };
        }
        if (outcome === 'won') await leases.remove({ name, turn, attempt });
        // Another took this turn, or begins anew: see who, and whether it is over already.
        last = (await leases.get(name, turn)) ?? (await lastTurn(name));
      }
    },

    async isHeld({ name, turn, attempt }) {
      const last = await lastTurn(name);
      if (!last || last.turn !== turn || last.attempt !== attempt) return false;
      return !(await over(last));
    },

    async release({ name, turn, attempt }) {
      // Only the owner writes to its own turn: nothing to race with.
      const releasedAtMs = now();
      await leases.set({ name, turn }, { releasedAtMs }, { attempt, releasedAtMs: null });
    },
  };

  function lastTurn(name: string): Promise<Row<'leases'> | null> {
    return leases.first({ name }, { order: [['turn', 'desc']] });
  }

  async function over(last: Row<'leases'>): Promise<boolean> {
    if (leaseOver(last, true, now())) return true;
    return leaseOver(last, await isAlive(last.owner), now());
  }
}
