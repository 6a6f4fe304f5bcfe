import type { Origin } from './observation.ts';
import type {
  BazaarListings,
  IndexedOrigin,
  ListingFacts,
  Lookup,
  ObservationName,
  OfferOnChain,
  SettlementFacts,
} from './observations.ts';

export type Payee = { readonly network: string; readonly address: string };

/** The members of an offer that are needed to ask a chain node about it. */
export type ChainOffer = {
  /** CAIP-2 */
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** The offer's EIP-712 domain. */
  readonly name: string | null;
  readonly version: string | null;
  /** True if the asset is in our table. Its code and domain are not requested then. */
  readonly isKnown: boolean;
};

/** Asks indexes and chain nodes about an origin. */
export type Standing = {
  /** True if no third party is asked. No recipients are chosen then. Default false. */
  readonly isOff?: boolean;
  /** Asks about the origin during the first wave. Resolves within its own time limit and never rejects. */
  origin(origin: Origin): Promise<{
    readonly x402scan: Lookup<IndexedOrigin>;
    /** The origin in x402.org's list of partners. */
    readonly listing: Lookup<ListingFacts>;
  }>;
  /** Asks once the recipients are known. Resolves within its own time limit and never rejects. */
  settlements(origin: Origin, payees: readonly Payee[]): Promise<Lookup<SettlementFacts>>;
  /** Asks chain nodes about these offers. Returns nothing if no node is set or none answers. Never rejects. */
  onChain?(offers: readonly ChainOffer[]): Promise<readonly OfferOnChain[]>;
  /** Finds the Bazaar's listings that pay these recipients. If absent, nobody observes the Bazaar. */
  listings?(payees: readonly Payee[], origin: Origin): Promise<Lookup<BazaarListings>>;
};

const OFF = { state: 'off', why: 'offline' } as const;

/** Asks no third party, so the standing checks are not determined. */
export const OFFLINE_STANDING: Standing = {
  isOff: true,
  origin: async () => ({ x402scan: OFF, listing: OFF }),
  settlements: async () => OFF,
  listings: async () => OFF,
};

/** Observations of third parties, whose outages are not a fault of the origin. */
export const STANDING_OBSERVATIONS = [
  'x402scan',
  'settlements',
  'listing',
  'bazaar',
  'chain',
] as const satisfies readonly ObservationName[];
