/** Leases, one insert a turn on MongoDB. */
import type { Lease, LeaseStore } from '../contract/leases.ts';
import { leaseOf, leaseOver } from '../shared/leases.ts';
import type { MongoContext } from './context.ts';
import type { LeaseDocument } from './documents.ts';
import { ownerLives } from './live-instances.ts';
import { idOf } from './table.ts';

export function mongoLeases(context: MongoContext): LeaseStore {
  const { leases, owner, now } = context;
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
        const _id = idOf(name, turn);
        const outcome = await leases.decide({ _id, ...lease, releasedAtMs: null });
        // A purge that took the whole sequence while this turn was on its way lets another start at
        // 1. Without its predecessor the turn never counted.
        if (outcome === 'won' && (turn === 1 || (await leases.byId(idOf(name, turn - 1))))) {
          return { held: true, lease };
        }
        if (outcome === 'won') await leases.remove({ _id, attempt });
        // Another took this turn, or begins anew: see who, and whether it is over already.
        last = (await leases.byId(_id)) ?? (await lastTurn(name));
      }
    },

    async isHeld({ name, turn, attempt }) {
      const last = await lastTurn(name);
      if (!last || last.turn !== turn || last.attempt !== attempt) return false;
      return !(await over(last));
    },

    async release({ name, turn, attempt }) {
      // Only the owner writes to its own turn: nothing to race with.
      await leases.set(idOf(name, turn), { releasedAtMs: now() }, { attempt, releasedAtMs: null });
    },
  };

  function lastTurn(name: string): Promise<LeaseDocument | null> {
    return leases.first({ name }, { sort: { turn: -1 } });
  }

  async function over(last: LeaseDocument): Promise<boolean> {
    if (leaseOver(last, true, now())) return true;
    return leaseOver(last, await ownerLives(context, last.owner), now());
  }
}
