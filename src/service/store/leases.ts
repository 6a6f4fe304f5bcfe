import { randomInt, randomUUID } from 'node:crypto';
import type { EngineContext } from './context.ts';
import type { InstanceId } from './payment-tables.ts';
import { joinId, waitJitter } from './table.ts';
import type { Row } from './tables.ts';

/** Names what a limit counts, in parts, such as `['open-claim', payer]`. A limit counts the leases of one scope. */
export type LeaseScope = readonly string[];

export type LeaseRequest = {
  readonly scope: LeaseScope;
  /** Number of leases of the scope, at least 1. They are numbered from 0. */
  readonly limit: number;
  /** The lease ends after this time at the latest. */
  readonly lifetimeMs: number;
  /**
   * `true`: the lease is for work of this instance, and also ends when the instance is gone.
   * `false`: the lease counts something that happened, and only time ends it.
   */
  readonly endsWithOwner: boolean;
  /** Leases of several scopes can be read by their group, such as those of all clients of a host. */
  readonly group?: string | undefined;
  /** Identifies the lease; default random. A repeated try with the same value finds the lease that the first try took. */
  readonly attempt?: string | undefined;
  /** Any text, which is stored with the lease. */
  readonly data?: string | undefined;
};

export type Lease = {
  readonly n: number;
  /** Identifies the lease. */
  readonly attempt: string;
  readonly owner: InstanceId;
  /** Database time, ms. */
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
  readonly data: string | null;
};

export type LeaseOutcome =
  | { readonly taken: true; readonly lease: Lease }
  | {
      readonly taken: false;
      /** A lease of the scope is free at this time, or earlier. */
      readonly retryAtMs: number;
      /** The oldest of the live leases. */
      readonly holder: Lease;
    };

/**
 * Each scope has numbered leases. A caller takes one by inserting its scope and number, which are unique. The limit
 * therefore holds even if several instances race. Expired leases are deleted.
 */
export type LeaseStore = ReturnType<typeof createLeaseStore>;

export function createLeaseStore({ tables, owner, now, isAlive }: EngineContext) {
  const { leases } = tables;
  const store = {
    /** Takes a free lease of the scope, or says when one will be free. */
    async take(request: LeaseRequest): Promise<LeaseOutcome> {
      const { limit, lifetimeMs, endsWithOwner, group = null, data = null } = request;
      const { attempt = randomUUID() } = request;
      const scope = joinId(...request.scope);
      for (;;) {
        const rows = await leases.all({ scope });
        const liveRows = await findLiveAmong(rows);
        const ownRow = liveRows.find((row) => row.attempt === attempt);
        if (ownRow) return { taken: true, lease: ownRow };
        // After the limit was lowered, live leases may have numbers beyond it. They count too.
        const [holder] = liveRows;
        if (holder && liveRows.length >= limit) {
          return { taken: false, retryAtMs: findFirstExpiryMs(liveRows), holder };
        }
        const expiredAttempts = rows
          .filter((row) => !liveRows.includes(row))
          .map((row) => row.attempt);
        // Expired rows are removed by `attempt`, because another row may have taken the same number meanwhile.
        if (expiredAttempts.length > 0) await leases.remove({ attempt: { in: expiredAttempts } });
        const usedNumbers = new Set(liveRows.map((row) => row.n));
        const numbers = Array.from({ length: limit }, (_, n) => n);
        const freeNumbers = numbers.filter((n) => !usedNumbers.has(n));
        // The number is random, because callers that race for the same number would delay each other.
        const n = freeNumbers[randomInt(freeNumbers.length)] ?? 0;
        const takenAtMs = now();
        const times = { takenAtMs, expiresAtMs: takenAtMs + lifetimeMs };
        const lease = { attempt, scope, n, owner, endsWithOwner, ...times, group, data };
        if ((await leases.insertContended(lease)) === 'won') return { taken: true, lease };
        await waitJitter();
      }
    },

    /** Takes the only lease of a scope for work of this instance. The end of the instance also ends the lease. */
    takeSole(scope: LeaseScope, lifetimeMs: number, data?: string): Promise<LeaseOutcome> {
      return store.take({ scope, limit: 1, lifetimeMs, endsWithOwner: true, data });
    },

    /** True until the lease is released, has expired or, if it ends with its owner, the owner is gone. */
    async isHeld({ attempt }: Pick<Lease, 'attempt'>): Promise<boolean> {
      const row = await leases.get(attempt);
      return row !== null && (await findLiveAmong([row])).length > 0;
    },

    /** Ends the lease. Does not affect a later lease with the same number. */
    async release({ attempt }: Pick<Lease, 'attempt'>): Promise<void> {
      await leases.remove({ attempt });
    },

    /** Finds the live leases of a scope or group, oldest first. */
    async findLive(selection: LeaseScope | { readonly group: string }): Promise<readonly Lease[]> {
      const where =
        'group' in selection ? { group: selection.group } : { scope: joinId(...selection) };
      return findLiveAmong(await leases.all(where));
    },
  };
  return store;

  /** Selects the live rows, oldest first. Looks up each owner once. */
  async function findLiveAmong(rows: readonly Row<'leases'>[]): Promise<readonly Row<'leases'>[]> {
    const nowMs = now();
    const unexpired = rows.filter((row) => row.expiresAtMs > nowMs);
    const owned = unexpired.filter((row) => row.endsWithOwner);
    const deadBoots = new Set<string>();
    for (const [boot, instance] of new Map(owned.map((row) => [row.owner.boot, row.owner]))) {
      if (!(await isAlive(instance))) deadBoots.add(boot);
    }
    return unexpired
      .filter((row) => !(row.endsWithOwner && deadBoots.has(row.owner.boot)))
      .toSorted((a, b) => a.takenAtMs - b.takenAtMs);
  }
}

export function findFirstExpiryMs(live: readonly { readonly expiresAtMs: number }[]): number {
  return Math.min(...live.map(({ expiresAtMs }) => expiresAtMs));
}
