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

/** The members of an offer that a chain node is asked about. */
export type ChainOffer = {
  /** CAIP-2 */
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** The offer's EIP-712 domain. */
  readonly name: string | null;
  readonly version: string | null;
  /** The catalog knows the asset, so its code and domain are not requested. */
  readonly isKnown: boolean;
};

export type Standing = {
  /** No third party is asked, so recipients need not be chosen; default false. */
  readonly isOff?: boolean;
  /** Runs beside the first wave; resolves within its own time limit, never rejects. */
  origin(origin: Origin): Promise<{
    readonly x402scan: Lookup<IndexedOrigin>;
    readonly listing: Lookup<ListingFacts>;
  }>;
  /** Runs once the origin's recipients are known; resolves within its own limit, never rejects. */
  settlements(origin: Origin, payees: readonly Payee[]): Promise<Lookup<SettlementFacts>>;
  /** Asks chain nodes about these offers; empty when none is set or none answers. Never rejects. */
  onChain?(offers: readonly ChainOffer[]): Promise<readonly OfferOnChain[]>;
  /** Bazaar entries under these recipients of an origin; absent when the Bazaar is never asked. */
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
