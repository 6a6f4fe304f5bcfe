/** Runs on a worker, because a seller wrote the challenge and the documents. */
import { hash } from 'node:crypto';
import { MAX_OFFERS, toOfferTerms } from '../clients/list-challenges.ts';
import type { HttpData } from '../model/observation.ts';
import type { Observations } from '../model/observations.ts';
import { type JsonValue, showJson } from '../parse/json/json.ts';
import { createKit } from '../parse/kit/kit.ts';
import { cleanText } from '../parse/text/text.ts';
import { toPrice } from '../parse/x402/amount.ts';
import { type Challenge, type Offer, readChallenge } from '../parse/x402/challenge.ts';
import { findMisplacement } from '../parse/x402/misplaced-challenge.ts';
import { toCaip2 } from '../parse/x402/networks.ts';
import { findOtherChallenges, type OtherChallenge } from '../parse/x402/other-protocol.ts';
import { isSettledUpfront } from '../parse/x402/schemes.ts';
import { findResources } from '../probe/plan/find-resources.ts';
import { EMPTY_OBSERVATIONS } from '../scan/scanner.ts';
import type { PreflightOffer } from './result.ts';

export type PricedOffer = Omit<PreflightOffer, 'client'> & {
  /** Decimals of the asset, so that a price limit can be compared with base units. */
  readonly decimals: number | null;
  /** True if the payment settles before the work; false if only a stored report is known. */
  readonly isUpfront: boolean;
};

export type ReadTerms = {
  readonly x402Version: number | null;
  readonly resourceUrl: string | null;
  readonly offers: readonly PricedOffer[];
  /** Null unless all terms are known. */
  readonly digest: string | null;
};

const MAX_TERM_CHARS = 120;
const MAX_URL_CHARS = 2_048;

export type ReadAnswer = {
  /** Null if the answer has no x402 challenge. */
  readonly terms: ReadTerms | null;
  readonly others: readonly OtherChallenge[];
  /** Says what the 402 has in place of a challenge: "with the challenge in X-PAYMENT"; null if it has one. */
  readonly misplaced: string | null;
};

export function readAnswer(answer: HttpData): ReadAnswer {
  const reading = readChallenge(answer);
  const { challenge } = reading;
  return {
    terms: challenge === null ? null : readTerms(challenge),
    others: findOtherChallenges(answer),
    misplaced: findMisplacement(answer, reading)?.text ?? null,
  };
}

function readTerms(challenge: Challenge): ReadTerms {
  const { version, resourceUrl } = challenge;
  const offers = challenge.offers.slice(0, MAX_OFFERS);
  return {
    x402Version: version,
    resourceUrl: resourceUrl === null ? null : cleanText(resourceUrl, MAX_URL_CHARS),
    offers: offers.map(toPricedOffer),
    digest: digestTerms(version, challenge.offers),
  };
}

function toPricedOffer(offer: Offer): PricedOffer {
  const { network, asset, amount, maxTimeoutSeconds, payTo } = offer;
  return {
    ...toOfferTerms(offer),
    ...toPrice({ network, asset, amount }),
    payTo: showTerm(payTo),
    isUpfront: isSettledUpfront(offer.extra),
    maxTimeoutSeconds: typeof maxTimeoutSeconds === 'number' ? maxTimeoutSeconds : null,
  };
}

/** Covers all offers, also those beyond the limit. */
function digestTerms(version: number, offers: readonly Offer[]): string {
  const terms = offers.map(({ scheme, network, asset, amount, payTo }) => {
    const networkId = toCaip2(network) ?? null;
    return [scheme ?? null, networkId, asset ?? null, amount ?? null, payTo ?? null];
  });
  return `sha256:${hash('sha256', JSON.stringify([version, terms]))}`;
}

function showTerm(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? cleanText(value, MAX_TERM_CHARS) : showJson(value);
}

export type DeclaringDocuments = Pick<Observations, 'origin' | 'manifest' | 'openapi'>;

/**
 * Finds the path of the first resource that is declared as paid and sold by GET. Prefers declared
 * parameters to made-up ones. Null if there is no such resource.
 */
export function findPaidGet(documents: DeclaringDocuments): string | null {
  const { resources } = findResources({ ...EMPTY_OBSERVATIONS, ...documents }, createKit());
  const paidGets = resources.filter(
    ({ method, declaredPaid }) => declaredPaid && method !== 'POST',
  );
  return (paidGets.find(({ madeUp }) => !madeUp) ?? paidGets[0])?.path ?? null;
}
