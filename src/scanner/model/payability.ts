/** The package of an official client, such as "@x402/evm" 2.27.0. */
export type ClientVersion = { readonly name: string; readonly version: string };

/** Prefix of an offer's `words` if a client signs the offer, but no facilitator would settle it. */
export const SIGNED_UNSOUND_PREFIX = 'clients sign it, facilitators refuse it';

/** The `words` of a challenge if clients sign the offer that they take first, but not by its transfer method. */
export const SIGNED_OTHER_METHOD = 'clients sign it by another transfer method than it names';

/** Prefix of a challenge's `words` if one client signs the challenge and other clients refuse it as a whole. */
export const REFUSED_WHOLE_PREFIX = 'some clients sign it, others refuse the whole challenge';

/**
 * Verdicts of a client with every scheme on one offer only. `limited`: it signs only without the default
 * spend controls. `refuses`: it does not sign, or nobody could settle its signature. `unsupported`: no
 * client has that scheme on that network.
 */
export const OFFER_VERDICTS = ['signs', 'limited', 'refuses', 'unsupported'] as const;
export type OfferVerdict = (typeof OFFER_VERDICTS)[number];

/** The clients that can pay, best first: default clients, clients with settings, not known, no client. */
export const PAYABLE_BY = ['default', 'settings', 'unknown', 'nobody'] as const;
export type PayableBy = (typeof PAYABLE_BY)[number];

/** Values of `payableBy`. `noChallenge` stands for null: the scan saw no challenge. */
export const PAYABLE_STATES = [...PAYABLE_BY, 'noChallenge'] as const;
export type PayableState = (typeof PAYABLE_STATES)[number];

/** The lowest price of an origin: base units of a known asset, as the offer has them. */
export type PriceFrom = Readonly<Record<'amount' | 'asset' | 'network', string>>;

export type OfferPayability = {
  /** "/accepts/0" */
  readonly pointer: string;
  /** Copied from the challenge, cleaned and cut; null when missing. */
  readonly scheme: string | null;
  readonly network: string | null;
  readonly asset: string | null;
  readonly amount: string | null;
  /** The package that gave the verdict; null if no package supports the offer. */
  readonly client: string | null;
  readonly verdict: OfferVerdict;
  /** The client's message, cleaned, at most 200 characters; null when it signs. */
  readonly words: string | null;
};

export type OfferTerms = Omit<OfferPayability, 'client' | 'verdict' | 'words'>;

/** A resource that answered with a challenge, with the method whose challenge was judged. */
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

/**
 * Protocols other than x402 that a 402 may speak, by the schemes `Payment` (MPP) and `L402` of WWW-Authenticate, and by
 * the headers `crawler-price` and `crawler-error` (pay per crawl).
 */
export const OTHER_PROTOCOLS = ['MPP', 'L402', 'pay per crawl'] as const;
export type OtherProtocol = (typeof OTHER_PROTOCOLS)[number];

/** A 402 that asks for payment over another protocol, with or without an x402 challenge in the same answer. */
export type OtherWay = {
  readonly method: string;
  readonly path: string;
  readonly protocol: OtherProtocol;
  /** Payment methods that MPP names ("tempo", "stripe"), cleaned, at most five. */
  readonly methods: readonly string[];
};

/** Words of the census. Each word says if somebody could pay a host on one day. */
export const DAY_WORDS = ['payable', 'not_payable', 'down', 'not_checked'] as const;
/** A host has one word for each UTC day. */
export type DayWord = (typeof DAY_WORDS)[number];

/** Letter of each word. A day without a word has the letter of `not_checked`. */
export const DAY_LETTERS: Readonly<Record<DayWord, string>> = {
  payable: 'p',
  not_payable: 'n',
  down: 'd',
  not_checked: '-',
};

/** Number of days that a record shows. */
export const SHOWN_DAYS = 30;

export type Availability = {
  /** The newest word of the last 36 hours; null if there is none. */
  readonly today: DayWord | null;
  readonly payableDays: number;
  /** Days with a word other than `not_checked`. */
  readonly checkedDays: number;
  /** 30 letters, newest last: `p` payable, `n` not payable, `d` down, `-` not checked or not yet. */
  readonly days: string;
};

/** The side that paid for a published scan: a payer, or the operator's census. */
export const PAID_BY = ['payer', 'census'] as const;
export type PaidBy = (typeof PAID_BY)[number];

/**
 * `today`: the newest word of the last 36 hours is `payable`. `week`: at least 3 of the last 7 days were checked, and
 * at least six sevenths of the checked days were payable.
 */
export const PAYABLE_FILTERS = ['today', 'week'] as const;
export type PayableFilter = (typeof PAYABLE_FILTERS)[number];
