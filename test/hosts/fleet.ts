/** Sellers, a database and the instances that a test starts on it. */

import { openStore } from '../../src/service/store/open-store.ts';
import type { LedgerState } from '../../src/service/store/payment-tables.ts';
import type { Store } from '../../src/service/store/store.ts';
import { dropDatabase, freshDatabase } from '../service/store/mongo-subject.ts';
import { type HeldSeller, startHeldSeller } from './held-seller.ts';
import { type InstanceProcess, type Settings, startInstance } from './instance-process.ts';
import type { Purchase } from './purchase.ts';

export type FleetOptions = {
  /** URI of a server. The fleet creates its own database on it. */
  readonly mongoUri: string;
  readonly sellers: number;
  readonly settings?: Settings;
  /** Further exceptions of the egress guard, `host:port`. */
  readonly alsoAllow?: readonly string[];
};

/** A database, sellers that scans may reach, and the instances that a test starts on it. */
export type Fleet = AsyncDisposable & {
  readonly sellers: readonly HeldSeller[];
  /** A look at what the instances share, by somebody who is not an instance. */
  readonly store: Store;
  readonly storeUrl: string;
  start(settings?: Settings): Promise<InstanceProcess>;
  /** Settings for an instance that this fleet does not start. */
  readonly settings: Settings;
};

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { mongoUri, alsoAllow = [] } = options;
  await using undo = new AsyncDisposableStack();
  const storeUrl = freshDatabase(mongoUri);
  const sellers = await Promise.all(Array.from({ length: options.sellers }, startHeldSeller));
  undo.defer(async () => {
    for (const seller of sellers) seller.release();
    await Promise.all(sellers.map((seller) => seller[Symbol.asyncDispose]()));
  });
  const store = await openStore(storeUrl);
  undo.defer(async () => {
    await store.close();
    await dropDatabase(storeUrl);
  });
  const settings: Settings = {
    STORE_URL: storeUrl,
    SCAN_ALLOW_HOSTS: [...sellers.map(({ host }) => host), ...alsoAllow].join(','),
    ...options.settings,
  };
  const instances: InstanceProcess[] = [];
  undo.defer(async () => {
    await Promise.all(instances.map((instance) => instance.kill()));
  });
  const started = undo.move();
  return {
    sellers,
    store,
    storeUrl,
    settings,
    async start(more = {}) {
      const instance = await startInstance({ ...settings, ...more });
      instances.push(instance);
      return instance;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** The seller that a test has for itself. */
export function sellerOf({ sellers }: Fleet, n: number): HeldSeller {
  const seller = sellers[n];
  if (seller === undefined) throw new Error(`the fleet has no seller ${n}`);
  return seller;
}

/** Counts the keys between claim and end. */
export async function unfinishedKeys({ store }: Fleet): Promise<number> {
  let count = 0;
  for await (const _entry of store.ledger.findUnfinished()) count += 1;
  return count;
}

/** Counts the purchase's steps of this state. The ledger keeps all steps. */
export async function countSteps(
  { store }: Fleet,
  { key }: Purchase,
  state: LedgerState,
): Promise<number> {
  const rows = await store.ledger.findAllSteps(key);
  return rows.filter((row) => row.state === state).length;
}
