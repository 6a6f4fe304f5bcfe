import type { AnswerReader } from '../answers/answer-reader.ts';
import type { Config } from '../config/config.ts';
import type { RefreshingStanding } from '../ecosystem/create-standing.ts';
import { createLookupRate } from '../ecosystem/lookup-rate.ts';
import type { SnapshotCache } from '../ecosystem/response-cache.ts';
import type { JsonValue } from '../model/json.ts';
import type { Store } from '../store/store.ts';
import type { OpenPayments } from './payments.ts';

export type OpenStanding = {
  readonly standing: RefreshingStanding;
  /** Lookups wait from now on while payments use the node. */
  yieldTo(payments: Pick<OpenPayments, 'isBusy'>): void;
};

/** Lookups of D3 and D4 share the node with payments, which have priority. */
export function openStanding(
  { ecosystem, payment }: Config,
  userAgent: string,
  { store, answers }: { readonly store: Store; readonly answers: AnswerReader },
): OpenStanding {
  let mustYield = () => false;
  let opened: Promise<RefreshingStanding> | null = null;
  const { rpcUrl, asset, network } = payment;

  async function open(): Promise<RefreshingStanding> {
    const { createStanding } = await import('../ecosystem/create-standing.ts');
    const chainTurn = createLookupRate({ mustYield: () => mustYield() });
    const place = { rpcUrl, asset: asset.address, network };
    const options = { ...ecosystem, ...place, userAgent, chainTurn, answers };
    return createStanding(options, snapshotCacheOn(store));
  }
  const standing = () => {
    opened ??= open();
    return opened;
  };
  return {
    standing: {
      origin: async (origin) => (await standing()).origin(origin),
      settlements: async (origin, payees) => (await standing()).settlements(origin, payees),
      listings: async (payees) => (await standing()).listings(payees),
      onChain: async (offers) => (await (await standing()).onChain?.(offers)) ?? [],
      refreshListing: async () => (await standing()).refreshListing(),
    },
    yieldTo(payments) {
      mustYield = () => payments.isBusy();
    },
  };
}

/** Cache of third parties' answers in the store, shared by all hosts. */
function snapshotCacheOn(store: Store): SnapshotCache {
  return {
    get: (source, key) => store.snapshots.get(source, key),
    put: ({ source, key, takenAtMs, data }) =>
      // Snapshots are parsed JSON, so a JSON copy loses nothing.
      store.snapshots.put({ source, key, takenAtMs, data: data as JsonValue }),
    now: () => store.now(),
  };
}
