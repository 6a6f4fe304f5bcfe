/** The answer to a buyer before paying: a verdict, why, and the terms as they stood. */
import type { OfferVerdict, PayableBy } from '../model/payability.ts';

export const VERDICTS = ['go', 'caution', 'no-go'] as const;
export type PreflightVerdict = (typeof VERDICTS)[number];

/** Reasons that refuse a payment, and those that only ask for a second look. */
export const REASON_CODES = {
  refused: 'no-go',
  unreachable: 'no-go',
  not_found: 'no-go',
  server_error: 'no-go',
  no_challenge: 'no-go',
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
  flawed_challenge: 'caution',
  not_judged: 'caution',
} as const satisfies Record<string, 'no-go' | 'caution'>;
export type ReasonCode = keyof typeof REASON_CODES;

export type PreflightReason = {
  readonly code: ReasonCode;
  /** The facts on one line; text of the seller is quoted, cleaned and cut. */
  readonly evidence: string;
};

/** One way to pay, as the challenge has it, cleaned and cut; null where a member is missing. */
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
  /** "0.05 USDC", where the asset is known. */
  readonly price: string | null;
  readonly isTestnet: boolean;
  /** The official client's verdict on this offer alone; null where it was not run. */
  readonly client: OfferVerdict | null;
};

export type PreflightTerms = {
  /** Null where a stored report is all that is known. */
  readonly x402Version: number | null;
  /** The URL that the challenge states, cleaned and cut. */
  readonly resourceUrl: string | null;
  readonly payableBy: PayableBy | null;
  readonly offers: readonly PreflightOffer[];
};

export type Preflight = {
  readonly verdict: PreflightVerdict;
  /** Refusals first; empty for go. */
  readonly reasons: readonly PreflightReason[];
  /** Null where no challenge was seen. */
  readonly terms: PreflightTerms | null;
  /**
   * Of version, scheme, network, asset, amount and recipient of every offer, in order: equal digests
   * are equal terms.
   */
  readonly termsDigest: string | null;
};

/** The verdict follows from the reasons alone. */
export function preflightOf(
  reasons: readonly PreflightReason[],
  terms: PreflightTerms | null = null,
  termsDigest: string | null = null,
): Preflight {
  const refusing = reasons.filter(({ code }) => REASON_CODES[code] === 'no-go');
  const doubting = reasons.filter(({ code }) => REASON_CODES[code] === 'caution');
  const verdict = refusing.length > 0 ? 'no-go' : doubting.length > 0 ? 'caution' : 'go';
  return { verdict, reasons: [...refusing, ...doubting], terms, termsDigest };
}
