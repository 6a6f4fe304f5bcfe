/** A client that was run, by its package: "@x402/evm" 2.27.0. */
export type ClientVersion = { readonly name: string; readonly version: string };

/** Begins the words of an offer that counts as refused, though the client signs it. */
export const SIGNED_UNSOUND = 'clients sign it, facilitators refuse it';

/**
 * One offer, given alone to a client with every scheme: it signs; it signs once the buyer lifts the
 * default spend controls; it refuses, or nobody could settle what it signs; no client here has that
 * scheme on that network.
 */
export const OFFER_VERDICTS = ['signs', 'limited', 'refuses', 'unsupported'] as const;
export type OfferVerdict = (typeof OFFER_VERDICTS)[number];

/** Best first: default clients, clients with settings, not known, no client. */
export const PAYABLE_BY = ['default', 'settings', 'unknown', 'nobody'] as const;
export type PayableBy = (typeof PAYABLE_BY)[number];

export type OfferPayability = {
  /** "/accepts/0" */
  readonly pointer: string;
  /** As the challenge has them, cleaned and cut; null where they are missing. */
  readonly scheme: string | null;
  readonly network: string | null;
  readonly asset: string | null;
  readonly amount: string | null;
  /** The package that said it; null where none here could. */
  readonly client: string | null;
  readonly verdict: OfferVerdict;
  /** The client's own words, cleaned, at most 200 characters; null where it signs. */
  readonly words: string | null;
};

/** One resource that challenged, by the method that it is judged by. */
export type ResourcePayability = {
  readonly method: string;
  readonly path: string;
  readonly payableBy: PayableBy;
  /** What the default client says of the challenge as a whole; null where it signs. */
  readonly words: string | null;
  readonly offers: readonly OfferPayability[];
};

export type Payability = {
  readonly clients: readonly ClientVersion[];
  /** Those that challenged. */
  readonly resources: readonly ResourcePayability[];
  /** Paid resources that were asked and gave no challenge: no client can pay them. */
  readonly silent: readonly { readonly method: string; readonly path: string }[];
};
