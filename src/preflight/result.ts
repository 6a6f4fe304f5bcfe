import type { OfferVerdict, OtherWay, PayableBy } from '../model/payability.ts';

export const VERDICTS = ['go', 'caution', 'no-go'] as const;
export type PreflightVerdict = (typeof VERDICTS)[number];

/** Reasons that refuse a payment, and reasons that ask for caution. */
export const REASON_CODES = {
  refused: 'no-go',
  unreachable: 'no-go',
  not_found: 'no-go',
  server_error: 'no-go',
  no_challenge: 'no-go',
  other_protocol: 'no-go',
  nobody_can_pay: 'no-go',
  invalid_challenge: 'no-go',
  other_origin: 'no-go',
  over_max_price: 'no-go',
  some_over_max_price: 'caution',
  price_unknown: 'caution',
  not_asked: 'caution',
  no_answer: 'caution',
  no_payment_asked: 'caution',
  not_challenged: 'caution',
  settings_only: 'caution',
  unknown_scheme: 'caution',
  testnet_only: 'caution',
  pays_before_delivery: 'caution',
  flawed_challenge: 'caution',
  not_judged: 'caution',
} as const satisfies Record<string, 'no-go' | 'caution'>;
export type ReasonCode = keyof typeof REASON_CODES;

export type PreflightReason = {
  readonly code: ReasonCode;
  /** Facts on one line; quotes of the seller are cleaned and cut. */
  readonly evidence: string;
};

/** One payment option of the challenge, cleaned and cut; null members are missing. */
export type PreflightOffer = {
  /** "/accepts/0" */
  readonly pointer: string;
  readonly scheme: string | null;
  readonly network: string | null;
  readonly asset: string | null;
  /** Base units. */
  readonly amount: string | null;
  readonly payTo: string | null;
  readonly maxTimeoutSeconds: number | null;
  /** "0.05 USDC", when the asset is known. */
  readonly price: string | null;
  readonly isTestnet: boolean;
  /** The official client's verdict on this offer without the others; null when it was not run. */
  readonly client: OfferVerdict | null;
};

export type PreflightTerms = {
  /** Null when only a stored report is known. */
  readonly x402Version: number | null;
  /** The URL stated in the challenge, cleaned and cut. */
  readonly resourceUrl: string | null;
  readonly payableBy: PayableBy | null;
  readonly offers: readonly PreflightOffer[];
};

export type Preflight = {
  readonly verdict: PreflightVerdict;
  /** Refusals first; empty for go. */
  readonly reasons: readonly PreflightReason[];
  /** Null when no challenge was seen. */
  readonly terms: PreflightTerms | null;
  /**
   * Covers version, scheme, network, asset, amount and recipient of every offer, in order; equal digests
   * mean equal terms.
   */
  readonly termsDigest: string | null;
  /** Other protocols that the 402 speaks, beside x402 or in its place; absent when there is none. */
  readonly otherWays?: readonly OtherWay[];
};

/** The verdict follows only from the reasons. */
export function toPreflight(
  reasons: readonly PreflightReason[],
  terms: PreflightTerms | null = null,
  termsDigest: string | null = null,
  otherWays: readonly OtherWay[] = [],
): Preflight {
  const refusing = reasons.filter(({ code }) => REASON_CODES[code] === 'no-go');
  const doubting = reasons.filter(({ code }) => REASON_CODES[code] === 'caution');
  const verdict = refusing.length > 0 ? 'no-go' : doubting.length > 0 ? 'caution' : 'go';
  return {
    verdict,
    reasons: [...refusing, ...doubting],
    terms,
    termsDigest,
    ...(otherWays.length > 0 ? { otherWays } : {}),
  };
}
