import { randomInt, randomUUID } from 'node:crypto';
import type { EngineContext } from './context.ts';
import type { InstanceId } from './payment-tables.ts';
import { joinId, waitJitter } from './table.ts';
import type { Row } from './tables.ts';

/** Names what a limit counts, in parts, such as `['open-claim', payer]`. A limit counts the slots of one scope. */
export type SlotScope = readonly string[];

export type SlotRequest = {
  readonly scope: SlotScope;
  /** Number of slots of the scope, at least 1. They are numbered from 0. */
  readonly limit: number;
  /** The slot is free again after this time at the latest. */
  readonly lifetimeMs: number;
  /**
   * `true`: the slot is a lease for work of this instance. It is also free when the instance is gone.
   * `false`: the slot counts something that happened, and only time frees it.
   */
  readonly endsWithOwner: boolean;
  /** Slots of several scopes can be read by their group, such as those of all clients of a host. */
  readonly group?: string | undefined;
  /** Random, new for every slot. A repeated try with the same value finds the slot that the first try took. */
  readonly attempt?: string | undefined;
  /** Any text, which is stored with the slot. */
  readonly data?: string | undefined;
};

export type Slot = {
  readonly n: number;
  /** Random; identifies the slot. */
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
      /** A slot is free again at this time, or earlier. */
      readonly retryAtMs: number;
      /** The oldest of the slots that are taken. */
      readonly holder: Slot;
    };

type SlotRow = Row<'slots'>;

/**
 * Limits and leases. A caller takes a slot by inserting its scope and number, which are unique. The limit therefore
 * holds even if several instances race. Expired slots are deleted.
 */
export type SlotStore = ReturnType<typeof slotsOn>;

export function slotsOn({ tables, owner, now, isAlive }: EngineContext) {
  const { slots } = tables;
  const store = {
    /** Takes a free slot of the scope, or says when a slot will be free. */
    async take(request: SlotRequest): Promise<SlotOutcome> {
      const { limit, lifetimeMs, endsWithOwner, group = null, data = null } = request;
      const { attempt = randomUUID() } = request;
      const scope = joinId(...request.scope);
      for (;;) {
        const rows = await slots.all({ scope });
        const live = await findLiveAmong(rows);
        const ownSlot = live.find((row) => row.attempt === attempt);
        if (ownSlot) return { taken: true, slot: ownSlot };
        // After the limit was lowered, live slots may have numbers beyond it. They count too.
        const [holder] = live;
        if (holder && live.length >= limit) {
          return { taken: false, retryAtMs: findFirstExpiryMs(live), holder };
        }
        const expired = rows.filter((row) => !live.includes(row)).map((row) => row.attempt);
        // Expired rows are removed by `attempt`, because another row may have taken the same number meanwhile.
        if (expired.length > 0) await slots.remove({ attempt: { in: expired } });
        const usedNumbers = new Set(live.map((row) => row.n));
        const numbers = Array.from({ length: limit }, (_, n) => n);
        const freeNumbers = numbers.filter((n) => !usedNumbers.has(n));
        // The number is random, because callers that race for the same number would delay each other.
        const n = freeNumbers[randomInt(freeNumbers.length)] ?? 0;
        const takenAtMs = now();
        const times = { takenAtMs, expiresAtMs: takenAtMs + lifetimeMs };
        const slot = { attempt, scope, n, owner, endsWithOwner, ...times, group, data };
        if ((await slots.insertContended(slot)) === 'won') return { taken: true, slot };
        await waitJitter();
      }
    },

    /** Takes the only slot of a scope for work of this instance. The end of the instance also frees the slot. */
    lease(scope: SlotScope, lifetimeMs: number, data?: string): Promise<SlotOutcome> {
      return store.take({ scope, limit: 1, lifetimeMs, endsWithOwner: true, data });
    },

    /** True until the slot is released, has expired or, if it ends with its owner, the owner is gone. */
    async isHeld({ attempt }: Pick<Slot, 'attempt'>): Promise<boolean> {
      const row = await slots.get(attempt);
      return row !== null && (await findLiveAmong([row])).length > 0;
    },

    /** Frees the slot. Does not affect a later slot with the same number. */
    async release({ attempt }: Pick<Slot, 'attempt'>): Promise<void> {
      await slots.remove({ attempt });
    },

    /** Finds the live slots of a scope or group, oldest first. */
    async findLive(selection: SlotScope | { readonly group: string }): Promise<readonly Slot[]> {
      const where =
        'group' in selection ? { group: selection.group } : { scope: joinId(...selection) };
      return findLiveAmong(await slots.all(where));
    },
  };
  return store;

  /** Selects the live rows, oldest first. Looks up each owner once. */
  async function findLiveAmong(rows: readonly SlotRow[]): Promise<readonly SlotRow[]> {
    const nowMs = now();
    const unexpired = rows.filter((row) => row.expiresAtMs > nowMs);
    const leases = unexpired.filter((row) => row.endsWithOwner);
    const deadBoots = new Set<string>();
    for (const [boot, instance] of new Map(leases.map((row) => [row.owner.boot, row.owner]))) {
      if (!(await isAlive(instance))) deadBoots.add(boot);
    }
    return unexpired
      .filter((row) => !(row.endsWithOwner && deadBoots.has(row.owner.boot)))
      .toSorted((a, b) => a.takenAtMs - b.takenAtMs);
  }
}

/** Finds the time at which the first of these slots expires. */
export function findFirstExpiryMs(live: readonly { readonly expiresAtMs: number }[]): number {
  return Math.min(...live.map((slot) => slot.expiresAtMs));
}
