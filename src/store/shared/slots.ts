import { randomInt, randomUUID } from 'node:crypto';
import type { SlotScope, SlotStore } from '../contract/slots.ts';
import type { StoreContext } from './context.ts';
import { freeAgainAtMs, type SlotRow, scopeState, scopeText, slotOf } from './slot-rules.ts';
import { jitter } from './table.ts';
import type { Row } from './tables.ts';

export function slotsOn({ tables, owner, now, isAlive }: StoreContext): SlotStore {
  const { slots } = tables;
  return {
    async take({
      scope,
      limit,
      lifetimeMs,
      endsWithOwner,
      group = null,
      data = null,
      attempt = randomUUID(),
    }) {
      for (;;) {
        const rows = await rowsOf(scope);
        const { live, over, free } = scopeState(rows, limit, await overIn(rows));
        const own = live.find((row) => row.attempt === attempt);
        if (own) return { taken: true, slot: slotOf(own) };
        if (free.length === 0) return { taken: false, retryAtMs: freeAgainAtMs(live) };
        // Attempts are random: a row that took the number since has another.
        if (over.length > 0)
          await slots.remove({ attempt: { in: over.map((row) => row.attempt) } });
        // Any free one: racers who all want the first would lose all but one insert.
        const n = free[randomInt(free.length)] ?? 0;
        const takenAtMs = now();
        const expiresAtMs = takenAtMs + lifetimeMs;
        const slot = { n, attempt, owner, takenAtMs, expiresAtMs, data };
        const row = { ...slot, scope: scopeText(scope), endsWithOwner, group };
        if ((await slots.decide(row)) === 'won') return { taken: true, slot: { ...slot, scope } };
        await jitter();
      }
    },

    async release({ attempt }) {
      await slots.remove({ attempt });
    },

    async live(which) {
      const rows =
        'group' in which
          ? (await slots.all({ group: which.group })).map(toSlotRow)
          : await rowsOf(which);
      return scopeState(rows, rows.length, await overIn(rows)).live.map(slotOf);
    },
  };

  async function rowsOf(scope: SlotScope): Promise<readonly SlotRow[]> {
    return (await slots.all({ scope: scopeText(scope) })).map(toSlotRow);
  }

  /** Asks once for each owner whose death would free a slot. */
  async function overIn(rows: readonly SlotRow[]): Promise<(row: SlotRow) => boolean> {
    const nowMs = now();
    const owners = new Map(
      rows.filter((row) => row.endsWithOwner).map((row) => [row.owner.boot, row.owner]),
    );
    const dead = new Set<string>();
    for (const [boot, each] of owners) {
      if (!(await isAlive(each))) dead.add(boot);
    }
    return (row) => row.expiresAtMs <= nowMs || (row.endsWithOwner && dead.has(row.owner.boot));
  }
}

function toSlotRow({ scope, group, ...members }: Row<'slots'>): SlotRow {
  // `scopeText` is the only writer of this text.
  return { ...members, scope: JSON.parse(scope) };
}
