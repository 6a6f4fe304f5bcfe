import type { LeaseStore } from '../contract/leases.ts';
import type { EngineContext } from './context.ts';
import { decideNext } from './open-tables.ts';
import type { Row } from './tables.ts';

export function leasesOn({ tables, owner, now, isAlive }: EngineContext): LeaseStore {
  const { leases } = tables;
  return {
    async take({ name, attempt, lifetimeMs }) {
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

    async isHeld({ name, turn, attempt }) {
      const last = await lastTurn(name);
      return last?.turn === turn && last.attempt === attempt && !(await isOver(last));
    },

    async release({ name, turn, attempt }) {
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
