/** The questions of the gatherer to third parties; `src/ecosystem` answers them, or they stay open. */
import type {
  BazaarListings,
  IndexedOrigin,
  ListingFacts,
  Lookup,
  SettlementFacts,
} from './observations.ts';
import type { Origin } from './origin.ts';

export type Payee = { readonly network: string; readonly address: string };

export type Standing = {
  /** Asks no third party, so recipients need not be looked for; default false. */
  readonly isOff?: boolean;
  /** Asked beside the first wave; resolves within its own time limit, never rejects. */
  origin(origin: Origin): Promise<{
    readonly x402scan: Lookup<IndexedOrigin>;
    readonly listing: Lookup<ListingFacts>;
  }>;
  /** Asked once the origin's recipients are known; resolves within its own limit, never rejects. */
  settlements(origin: Origin, payees: readonly Payee[]): Promise<Lookup<SettlementFacts>>;
  /** What the Bazaar lists under these recipients; absent where it is never asked. */
  listings?(payees: readonly Payee[]): Promise<Lookup<BazaarListings>>;
};

const OFF = { state: 'off', why: 'offline' } as const;

/** Asks no third party: the checks that stand on it are not determined. */
export const OFFLINE_STANDING: Standing = {
  isOff: true,
  origin: async () => ({ x402scan: OFF, listing: OFF }),
  settlements: async () => OFF,
  listings: async () => OFF,
};
