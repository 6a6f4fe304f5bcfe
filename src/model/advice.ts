/** Advice covers what a seller should know and no check grades; the interface fixes the 25 checks. */
export const ADVICE_IDS = [
  'testnet-only',
  'over-default-limit',
  'under-facilitator-minimum',
  'needs-allowance',
  'signed-offer-differs',
  'sign-in-elsewhere',
  'identifier-required',
  'methods-unseen',
  'pays-before-delivery',
  'hidden-from-browsers',
  'paywall-without-challenge',
  'varies-unsaid',
  'asset-without-code',
  'domain-differs',
  'transfer-reverts',
  'no-token-account',
] as const;
export type AdviceId = (typeof ADVICE_IDS)[number];

export type Advice = {
  readonly id: AdviceId;
  /** Request, JSON pointer and value; quoted short and sanitised. */
  readonly evidence: string;
  /** One imperative line. It never quotes the origin. */
  readonly fix: string;
};
