import { randomInt, randomUUID } from 'node:crypto';
import type { SlotStore } from '../contract/slots.ts';
import type { StoreContext } from './context.ts';
import { jitter, joinId } from './table.ts';
import type { Row } from './tables.ts';

type SlotRow = Row<'slots'>;

export function slotsOn({ tables, owner, now, isAlive }: StoreContext): SlotStore {
  const { slots } = tables;
  return {
    async take(request) {
      const { limit, lifetimeMs, endsWithOwner, group = null, data = null } = request;
      const { attempt = randomUUID() } = request;
      const scope = joinId(...request.scope);
      for (;;) {
        const rows = await slots.all({ scope });
        const live = await liveAmong(rows);
        const own = live.find((row) => row.attempt === attempt);
        if (own) return { taken: true, slot: own };
        // Slots beyond a limit that was lowered since count too.
        if (live.length >= limit) return { taken: false, retryAtMs: freeAgainAtMs(live) };
        const over = rows.filter((row) => !live.includes(row)).map((row) => row.attempt);
        // The random attempt protects a row that has taken the same number since.
        if (over.length > 0) await slots.remove({ attempt: { in: over } });
        const taken = new Set(live.map((row) => row.n));
        const free = Array.from({ length: limit }, (_, n) => n).filter((n) => !taken.has(n));
        // A random free number is tried: of racers for the lowest one, all but one would lose.
        const n = free[randomInt(free.length)] ?? 0;
        const takenAtMs = now();
        const times = { takenAtMs, expiresAtMs: takenAtMs + lifetimeMs };
        const slot = { attempt, scope, n, owner, endsWithOwner, ...times, group, data };
        if ((await slots.decide(slot)) === 'won') return { taken: true, slot };
        await jitter();
      }
    },

    async release({ attempt }) {
      await slots.remove({ attempt });
    },

    async live(which) {
      const where = 'group' in which ? { group: which.group } : { scope: joinId(...which) };
      return liveAmong(await slots.all(where));
    },
  };

  /** Sorts oldest first. Looks up once each owner whose end would free a slot. */
  async function liveAmong(rows: readonly SlotRow[]): Promise<readonly SlotRow[]> {
    const nowMs = now();
    const unexpired = rows.filter((row) => row.expiresAtMs > nowMs);
    const bound = unexpired.filter((row) => row.endsWithOwner);
    const dead = new Set<string>();
    for (const [boot, each] of new Map(bound.map((row) => [row.owner.boot, row.owner]))) {
      if (!(await isAlive(each))) dead.add(boot);
    }
    return unexpired
      .filter((row) => !(row.endsWithOwner && dead.has(row.owner.boot)))
      .toSorted((a, b) => a.takenAtMs - b.takenAtMs);
  }
}

/** Finds the time at which the first of them expires. */
export function freeAgainAtMs(live: readonly { readonly expiresAtMs: number }[]): number {
  return Math.min(...live.map((slot) => slot.expiresAtMs));
}
