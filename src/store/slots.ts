import { randomInt, randomUUID } from 'node:crypto';
import type { EngineContext } from './context.ts';
import type { InstanceId } from './payment-tables.ts';
import { joinId, waitJitter } from './table.ts';
import type { Row } from './tables.ts';

/** A name in parts, such as `['open-claim', payer]`; the slots of one scope are counted together. */
export type SlotScope = readonly string[];

export type SlotRequest = {
  readonly scope: SlotScope;
  /** Slots of the scope are numbered from 0 to `limit` - 1, and one row holds each. At least 1. */
  readonly limit: number;
  /** The slot is freed after this long at the latest. */
  readonly lifetimeMs: number;
  /**
   * `true`: the slot stands for work of this instance, and is free once the instance is gone.
   * `false`: it stands for something that happened, and only time frees it.
   */
  readonly endsWithOwner: boolean;
  /** Scopes that are read together, such as those of all clients of a host. */
  readonly group?: string | undefined;
  /** Random, new for every slot; the same when tried again, which then finds its own. */
  readonly attempt?: string | undefined;
  /** Kept with the slot. */
  readonly data?: string | undefined;
};

export type Slot = {
  readonly n: number;
  /** Random, new for each slot that was taken. */
  readonly attempt: string;
  readonly owner: InstanceId;
  /** Database time, ms. */
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
  readonly data: string | null;
};

export type SlotOutcome =
  | { readonly taken: true; readonly slot: Slot }
  | {
      readonly taken: false;
      /** Time at which a slot is free again at the latest. */
      readonly retryAtMs: number;
      /** The oldest of the slots that are taken. */
      readonly holder: Slot;
    };

type SlotRow = Row<'slots'>;

/**
 * Slots of a scope. A slot is taken by inserting its number, so the limit holds however many instances
 * race for it. Expired slots are deleted, so a scope without live slots has no rows.
 */
export type SlotStore = ReturnType<typeof slotsOn>;

export function slotsOn({ tables, owner, now, isAlive }: EngineContext) {
  const { slots } = tables;
  const store = {
    /** Takes a free number of the scope, or says when one is free again. */
    async take(request: SlotRequest): Promise<SlotOutcome> {
      const { limit, lifetimeMs, endsWithOwner, group = null, data = null } = request;
      const { attempt = randomUUID() } = request;
      const scope = joinId(...request.scope);
      for (;;) {
        const rows = await slots.all({ scope });
        const live = await liveAmong(rows);
        const own = live.find((row) => row.attempt === attempt);
        if (own) return { taken: true, slot: own };
        // Slots beyond a limit that was lowered since count too.
        const [holder] = live;
        if (holder && live.length >= limit) {
          return { taken: false, retryAtMs: findFirstExpiryMs(live), holder };
        }
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
        if ((await slots.insertContended(slot)) === 'won') return { taken: true, slot };
        await waitJitter();
      }
    },

    /** Takes the only slot of the scope: one instance at a time does the work, and its end frees it. */
    lease(scope: SlotScope, lifetimeMs: number, data?: string): Promise<SlotOutcome> {
      return store.take({ scope, limit: 1, lifetimeMs, endsWithOwner: true, data });
    },

    /** True while nobody has released the slot, it has not expired and, if it ends with its owner, the owner lives. */
    async isHeld({ attempt }: Pick<Slot, 'attempt'>): Promise<boolean> {
      const row = await slots.get(attempt);
      return row !== null && (await liveAmong([row])).length > 0;
    },

    /** Frees the slot at once; does nothing to a later holder of its number. */
    async release({ attempt }: Pick<Slot, 'attempt'>): Promise<void> {
      await slots.remove({ attempt });
    },

    /** The slots that are taken now, oldest first. */
    async findLive(which: SlotScope | { readonly group: string }): Promise<readonly Slot[]> {
      const where = 'group' in which ? { group: which.group } : { scope: joinId(...which) };
      return liveAmong(await slots.all(where));
    },
  };
  return store;

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
export function findFirstExpiryMs(live: readonly { readonly expiresAtMs: number }[]): number {
  return Math.min(...live.map((slot) => slot.expiresAtMs));
}
