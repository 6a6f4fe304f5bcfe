/** An official client's package: "@x402/evm" 2.27.0. */
export type ClientVersion = { readonly name: string; readonly version: string };

/** Prefix of an offer's `words` when a client signs it and it still counts as refused. */
export const SIGNED_UNSOUND = 'clients sign it, facilitators refuse it';

/** Prefix of a challenge's `words` when a client signs it and it still counts as refused. */
export const REFUSED_WHOLE = 'some clients sign it, others refuse the whole challenge';

/**
 * Verdicts of a client with every scheme on one offer without the others: it signs; it signs once the default spend
 * controls are lifted; it refuses, or nobody could settle its signature; no client has that scheme on
 * that network.
 */
export const OFFER_VERDICTS = ['signs', 'limited', 'refuses', 'unsupported'] as const;
export type OfferVerdict = (typeof OFFER_VERDICTS)[number];

/** Best first: default clients, clients with settings, not known, no client. */
export const PAYABLE_BY = ['default', 'settings', 'unknown', 'nobody'] as const;
export type PayableBy = (typeof PAYABLE_BY)[number];

/** Values of `payableBy`, and one for hosts whose report has null because no challenge was seen. */
export const PAYABLE_STATES = [...PAYABLE_BY, 'noChallenge'] as const;
export type PayableState = (typeof PAYABLE_STATES)[number];

export type OfferPayability = {
  /** "/accepts/0" */
  readonly pointer: string;
  /** Copied from the challenge, cleaned and cut; null when missing. */
  readonly scheme: string | null;
  readonly network: string | null;
  readonly asset: string | null;
  readonly amount: string | null;
  /** The package that gave the verdict; null when none supports the offer. */
  readonly client: string | null;
  readonly verdict: OfferVerdict;
  /** The client's message, cleaned, at most 200 characters; null when it signs. */
  readonly words: string | null;
};

/** One resource that challenged, by the method that it is judged by. */
export type ResourcePayability = {
  readonly method: string;
  readonly path: string;
  readonly payableBy: PayableBy;
  /** The default client's message on the whole challenge; null when it signs. */
  readonly words: string | null;
  readonly offers: readonly OfferPayability[];
};

export type Payability = {
  readonly clients: readonly ClientVersion[];
  /** Resources that challenged. */
  readonly resources: readonly ResourcePayability[];
  /** Paid resources that were asked and gave no challenge, so no client can pay them. */
  readonly silent: readonly { readonly method: string; readonly path: string }[];
};

/** Protocols of a 402 beside x402: MPP is `WWW-Authenticate: Payment`, L402 has a header of its own name. */
export const OTHER_PROTOCOLS = ['MPP', 'L402'] as const;
export type OtherProtocol = (typeof OTHER_PROTOCOLS)[number];

/** A 402 that asks for payment over another protocol, with or without an x402 challenge beside it. */
export type OtherWay = {
  readonly method: string;
  readonly path: string;
  readonly protocol: OtherProtocol;
  /** Payment methods that MPP names ("tempo", "stripe"), cleaned, at most five. */
  readonly methods: readonly string[];
};
