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

/** Said in reports and by `explain`. */
export const ADVICE_FIXES: Readonly<Record<AdviceId, string>> = {
  'testnet-only': 'Offer a main network too: nobody earns anything on test networks.',
  'over-default-limit': 'Say so in your documents: default clients refuse over 1 USD a payment.',
  'under-facilitator-minimum': 'Ask for at least 0.001 USD: facilitators settle nothing smaller.',
  'needs-allowance': 'Offer EIP-3009 too, or sponsor the Permit2 approval by its extension.',
  'signed-offer-differs': 'Sign the offers that stand in accepts, with the same terms.',
  'sign-in-elsewhere': 'Set domain and uri of sign-in-with-x to the host that is asked.',
  'identifier-required': 'Make payment-identifier optional: many clients do not send one.',
  'methods-unseen': 'Offer a paid GET or POST too: nothing else is asked by those who index.',
  'pays-before-delivery':
    'Offer the flow authorization too: buyers who pay upfront have no refund if you deliver nothing.',
  'hidden-from-browsers':
    'Send Access-Control-Allow-Origin: * and Access-Control-Expose-Headers: PAYMENT-REQUIRED on the 402.',
  'paywall-without-challenge':
    'Answer 402 with PAYMENT-REQUIRED beside the page too: wallets in browsers read the header.',
  'asset-without-code':
    'Name the token of this chain: a settlement of what has no code moves nothing.',
  'domain-differs': 'Set extra.name and extra.version to what the token signs with.',
  'transfer-reverts': 'Name a recipient to whom transfers of this token do not revert.',
  'no-token-account': 'Open the associated token account of the recipient for this token.',
  'varies-unsaid':
    'Send Vary: Accept on both answers, or a cache gives one to whom the other is due.',
};
