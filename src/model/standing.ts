/** The questions of the gatherer to third parties; `src/ecosystem` answers them, or they stay open. */
import type {
  BazaarListings,
  IndexedOrigin,
  ListingFacts,
  Lookup,
  OfferOnChain,
  SettlementFacts,
} from './observations.ts';
import type { Origin } from './origin.ts';

export type Payee = { readonly network: string; readonly address: string };

/** An offer as a node of its chain is asked about it. */
export type ChainOffer = {
  /** CAIP-2 */
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** Of the EIP-712 domain, as the offer has them. */
  readonly name: string | null;
  readonly version: string | null;
  /** The catalog knows the asset: its code and domain need no asking. */
  readonly isKnown: boolean;
};

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
  /** What nodes say of these offers; empty where none is set, or none answers. Never rejects. */
  onChain?(offers: readonly ChainOffer[]): Promise<readonly OfferOnChain[]>;
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
