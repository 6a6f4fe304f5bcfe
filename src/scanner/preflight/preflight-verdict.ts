import type { Origin } from '../guard/origin.ts';
import type { OtherWay } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';
import { toBaseUnits } from '../parse/text/stated-price.ts';
import { quoteText } from '../parse/text/text.ts';
import { toPrice } from '../parse/x402/amount.ts';
import { formatProtocol } from '../parse/x402/other-protocol.ts';
import type { ChallengeJudgement } from './judge-challenge.ts';
import type { PricedOffer, ReadTerms } from './read-terms.ts';
import {
  type Preflight,
  type PreflightOffer,
  type PreflightReason,
  type PreflightRequest,
  toPreflight,
} from './result.ts';

export type BuyerTerms = {
  /** The origin of the challenge; null if the caller did not name it. */
  readonly origin: Origin | null;
  /** In whole units of the asset, such as "0.05"; null sets no limit. */
  readonly maxPrice: string | null;
  /** Index of the offer that the client chose; null if the client may choose any offer. */
  readonly chosenIndex?: number | null;
};

const MAX_QUOTE_CHARS = 160;

/** Decides whether a buyer should pay. A judgement without terms is a no-go. */
export function decideForBuyer(judgement: ChallengeJudgement, buyer: BuyerTerms): Preflight {
  const { terms, payability, schema, otherWays } = judgement;
  if (terms === null) return toPreflight([toNoTermsReason(judgement)], null, null, otherWays);
  const offers = terms.offers.map((offer): PreflightOffer & PricedOffer => ({
    ...offer,
    client: payability?.offers.find(({ pointer }) => pointer === offer.pointer)?.verdict ?? null,
  }));
  const chosen = offers.filter((_, index) => index === (buyer.chosenIndex ?? index));
  const payable = chosen.filter(({ client }) => client !== 'refuses' && client !== 'unsupported');
  const reasons = [
    ...findClientReasons(judgement),
    ...findOriginReasons(terms, buyer.origin),
    ...findSchemaReasons(schema),
    ...findPriceReasons(payable, buyer.maxPrice),
    ...findNetworkReasons(payable),
    ...findFlowReasons(payable),
  ];
  const { x402Version, resourceUrl, digest } = terms;
  const payableBy = payability?.payableBy ?? null;
  const shownOffers = offers.map(({ decimals: _, isUpfront: __, ...offer }) => offer);
  const shownTerms = { x402Version, resourceUrl, payableBy, offers: shownOffers };
  return toPreflight(reasons, shownTerms, digest, otherWays);
}

function toNoTermsReason({ otherWays, misplaced }: ChallengeJudgement): PreflightReason {
  if (otherWays.length === 0) {
    const place = misplaced === null ? '' : `: it comes ${misplaced}`;
    return {
      code: 'no_challenge',
      evidence: `the 402 holds no challenge that a client could read${place}`,
    };
  }
  const ways = otherWays.map(formatProtocol).join(', ');
  return { code: 'other_protocol', evidence: `the 402 asks for a payment over ${ways}, not x402` };
}

function findClientReasons({ payability }: ChallengeJudgement): readonly PreflightReason[] {
  if (payability === null) {
    return [{ code: 'nobody_can_pay', evidence: 'no official client could read the challenge' }];
  }
  const { payableBy, words } = payability;
  const quote =
    words === null ? '' : `: the official client says ${quoteText(words, MAX_QUOTE_CHARS)}`;
  switch (payableBy) {
    case 'default':
      return [];
    case 'settings':
      return [
        { code: 'settings_only', evidence: `only clients with extra settings can pay${quote}` },
      ];
    case 'unknown':
      return [{ code: 'unknown_scheme', evidence: `no client here knows how to pay${quote}` }];
    case 'nobody':
      return [{ code: 'nobody_can_pay', evidence: `nobody can pay${quote}` }];
  }
}

/** With the challenge of another origin, the buyer would pay that origin. */
function findOriginReasons(
  { resourceUrl }: ReadTerms,
  origin: Origin | null,
): readonly PreflightReason[] {
  const url = resourceUrl === null ? null : URL.parse(resourceUrl);
  if (origin === null || url === null || isSameOrigin(url, origin)) return [];
  const evidence = `resource.url is on ${quoteText(url.origin, MAX_QUOTE_CHARS)}, not on ${origin.url}`;
  return [{ code: 'other_origin', evidence }];
}

/** A seller behind a TLS proxy may state "http://" for its own URL. This function accepts that, and P3 reports it. */
function isSameOrigin(url: URL, origin: Origin): boolean {
  if (url.origin === origin.url) return true;
  // The URL "mcp://tool/NAME" names no server. P3 refuses it if no tool was called.
  if (url.protocol === 'mcp:') return url.host === 'tool' || url.hostname === origin.hostname;
  const { hostname } = new URL(origin.url); // with the brackets of an IPv6 address
  return url.protocol === 'http:' && url.port === '' && url.hostname === hostname;
}

function findSchemaReasons(schema: ChallengeJudgement['schema']): readonly PreflightReason[] {
  if (schema === null || schema.status === 'pass') return [];
  const evidence = `${schema.outcome}: ${schema.evidence}`;
  if (schema.outcome === 'fault') return [{ code: 'not_judged', evidence }];
  return [{ code: schema.status === 'fail' ? 'invalid_challenge' : 'flawed_challenge', evidence }];
}

function findPriceReasons(
  payable: readonly PricedOffer[],
  maxPrice: string | null,
): readonly PreflightReason[] {
  if (maxPrice === null || payable.length === 0) return [];
  const overpriced = payable.filter((offer) => isOverpriced(offer, maxPrice) === true);
  const unpriced = payable.filter((offer) => isOverpriced(offer, maxPrice) === null);
  const formatPrices = (offers: readonly PricedOffer[]) =>
    offers
      .map(({ pointer, price, amount }) => `${pointer} ${price ?? amount ?? 'without an amount'}`)
      .join(', ');
  const limit = `the limit is ${maxPrice}`;
  const reasons: PreflightReason[] = [];
  if (overpriced.length > 0) {
    const code = overpriced.length === payable.length ? 'over_max_price' : 'some_over_max_price';
    reasons.push({ code, evidence: `${formatPrices(overpriced)}: ${limit}` });
  }
  if (unpriced.length > 0) {
    const evidence = `${formatPrices(unpriced)}: the asset is not known here, and ${limit}`;
    reasons.push({ code: 'price_unknown', evidence });
  }
  return reasons;
}

/** Null if the asset's decimals are unknown. */
function isOverpriced({ amount, decimals }: PricedOffer, maxPrice: string): boolean | null {
  if (amount === null || decimals === null) return null;
  // Digits beyond the asset's decimals are below its smallest unit. `toBaseUnits` needs a digit after the point.
  const [whole = '', fraction = ''] = maxPrice.split('.');
  const limit = toBaseUnits(`${whole}.${fraction.slice(0, decimals).padEnd(1, '0')}`, decimals);
  return limit === null ? null : BigInt(amount) > limit;
}

function findNetworkReasons(payable: readonly PricedOffer[]): readonly PreflightReason[] {
  if (payable.length === 0 || payable.some(({ isTestnet }) => !isTestnet)) return [];
  const networks = [...new Set(payable.map(({ network }) => network))].join(', ');
  return [{ code: 'testnet_only', evidence: `every offer is on a network for tests: ${networks}` }];
}

/** An upfront payment settles before the work, and x402 has no refund. */
function findFlowReasons(payable: readonly PricedOffer[]): readonly PreflightReason[] {
  const upfrontOffers = payable.filter(({ isUpfront }) => isUpfront);
  if (upfrontOffers.length === 0) return [];
  const pointers = upfrontOffers.map(({ pointer }) => pointer).join(', ');
  const evidence = `you pay before delivery, and no refund is known (upfront: ${pointers})`;
  return [{ code: 'pays_before_delivery', evidence }];
}

/**
 * Judges by a stored report, without a request. A report does not tell the recipient, timeout, digest, or whether an
 * offer is paid upfront. Null if the report lacks this method and path.
 */
export function decideByReport(
  { method, path, origin, maxPrice }: PreflightRequest,
  { payability, otherWays = [] }: Pick<ScanReport, 'payability' | 'otherWays'>,
): Preflight | null {
  const isRequested = (candidate: Pick<OtherWay, 'method' | 'path'>) =>
    candidate.method === method && candidate.path === path;
  const buyer = { origin, maxPrice };
  const resource = payability?.find(isRequested);
  const ways = otherWays.filter(isRequested);
  const hasOffers = resource !== undefined && resource.offers.length > 0;
  if (!hasOffers && ways.length > 0) {
    const nothingRead = { terms: null, misplaced: null, payability: null, schema: null };
    return decideForBuyer({ ...nothingRead, otherWays: ways }, buyer);
  }
  if (resource === undefined) return null;
  const offers = resource.offers.map(({ client, verdict, words, ...terms }) => ({
    ...terms,
    payTo: null,
    maxTimeoutSeconds: null,
    isUpfront: false,
    ...toPrice(terms),
  }));
  const terms = { x402Version: null, resourceUrl: null, offers, digest: null };
  const judgement = { terms, misplaced: null, otherWays: ways, payability: resource, schema: null };
  return decideForBuyer(judgement, buyer);
}
