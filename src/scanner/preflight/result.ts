import type { OriginRefused } from '../guard/failures.ts';
import { type Origin, type OriginPolicy, toOrigin, validateUrl } from '../guard/origin.ts';
import type { OfferTerms, OfferVerdict, OtherWay, PayableBy } from '../model/payability.ts';

export type PreflightRequest = {
  readonly origin: Origin;
  /** Path and query. */
  readonly path: string;
  /** Upper case. The buyer will pay for a request with this method. */
  readonly method: string;
  readonly maxPrice: string | null;
};

const PRICE_PATTERN = /^[0-9]{1,30}(?:\.[0-9]{1,30})?$/;

/** True for a price in whole units of the asset, such as "0.05". */
export function isPrice(text: string): boolean {
  return PRICE_PATTERN.test(text);
}

/** Throws OriginRefused. */
export function parsePreflightUrl(
  url: string,
  policy: OriginPolicy,
): Pick<PreflightRequest, 'origin' | 'path'> {
  const valid = validateUrl(url, policy);
  return { origin: toOrigin(valid), path: `${valid.pathname}${valid.search}` };
}

export type PreflightTarget = {
  readonly origin: Origin;
  /** Path and query; null if the text names only a host. */
  readonly path: string | null;
};

/** Parses text that people type: a URL, or a host with or without a path. Throws OriginRefused. */
export function readPreflightTarget(text: string, policy: OriginPolicy): PreflightTarget {
  const trimmed = text.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
  const { origin, path } = parsePreflightUrl(url, policy);
  return { origin, path: path === '/' ? null : path };
}

/** Returns the answer for a URL that the guard refuses. */
export function toRefused({ message }: OriginRefused): Preflight {
  return toPreflight([{ code: 'refused', evidence: message }]);
}

/** Returns the answer if no request was sent; `evidence` says why. */
export function toNotAsked(evidence: string): Preflight {
  return toPreflight([{ code: 'not_asked', evidence }]);
}

export const VERDICTS = ['go', 'caution', 'no-go'] as const;
export type PreflightVerdict = (typeof VERDICTS)[number];

/** The verdict that each reason causes. */
export const VERDICT_BY_REASON = {
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
export type ReasonCode = keyof typeof VERDICT_BY_REASON;

export type PreflightReason = {
  readonly code: ReasonCode;
  /** One line. Quotes of the seller are cleaned and cut. */
  readonly evidence: string;
};

/** One payment option of the challenge. Its texts are cleaned and cut, and a missing member is null. */
export type PreflightOffer = OfferTerms & {
  readonly payTo: string | null;
  readonly maxTimeoutSeconds: number | null;
  /** The price with its asset, such as "0.05 USDC"; null if the asset is unknown. */
  readonly price: string | null;
  readonly isTestnet: boolean;
  /** The official client's verdict on this offer; null if no client was run. */
  readonly client: OfferVerdict | null;
};

export type PreflightTerms = {
  /** Null if only a stored report is known. */
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
  /** Null if there was no challenge. */
  readonly terms: PreflightTerms | null;
  /**
   * Digest of version, scheme, network, asset, amount and recipient of all offers, in order. Equal digests mean equal
   * terms.
   */
  readonly termsDigest: string | null;
  /** Other payment protocols of the 402; absent if there is none. */
  readonly otherWays?: readonly OtherWay[];
};

/** The verdict follows only from the reasons. */
export function toPreflight(
  reasons: readonly PreflightReason[],
  terms: PreflightTerms | null = null,
  termsDigest: string | null = null,
  otherWays: readonly OtherWay[] = [],
): Preflight {
  const refusals = reasons.filter(({ code }) => VERDICT_BY_REASON[code] === 'no-go');
  const doubts = reasons.filter(({ code }) => VERDICT_BY_REASON[code] === 'caution');
  const verdict = refusals.length > 0 ? 'no-go' : doubts.length > 0 ? 'caution' : 'go';
  return {
    verdict,
    reasons: [...refusals, ...doubts],
    terms,
    termsDigest,
    ...(otherWays.length > 0 ? { otherWays } : {}),
  };
}
