import { encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { StoreUnavailable } from '../../model/errors.ts';
import type { Store } from '../../store/store.ts';
import type { PaidAnswer, PaidRoute, SignedPayment } from '../paid-route.ts';
import { type PaymentTerms, type RouteOffer, toRouteOffer } from '../terms.ts';
import { encodeSettlement, PaymentRefused } from './answers.ts';
import { decodePayment, hasPaymentHeader, type PaymentHeaders } from './payment-header.ts';

/** Clients echo the whole challenge in their payment header, which has a limit of its own. */
const MAX_CHALLENGE_HEADER_LENGTH = 4_095;

export type ChallengeResponse = {
  /** Exactly the JSON that `PAYMENT-REQUIRED` encodes. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Throws if the header would be too long for clients to echo: a fault of the route's texts. */
export function createChallenge(
  offer: RouteOffer,
  { code, message }: PaymentRefused,
): ChallengeResponse {
  const required: PaymentRequired = {
    x402Version: 2,
    error: `${code}: ${message}`,
    resource: offer.resource,
    accepts: [{ ...offer.requirements, extra: { ...offer.requirements.extra } }],
    extensions: offer.extensions,
  };
  const header = encodePaymentRequiredHeader(required);
  if (header.length > MAX_CHALLENGE_HEADER_LENGTH) {
    throw new Error(
      `The challenge of ${offer.resource.url} has ${header.length} characters, over ${MAX_CHALLENGE_HEADER_LENGTH}: shorten its description or its discovery example.`,
    );
  }
  return {
    body: JSON.stringify(required),
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'payment-required': header,
    },
  };
}

const LOOK_LIFETIME_MS = 1_000;
const PAYMENT_INSTRUCTION =
  'sign one entry of "accepts" and send it, base64 of JSON, as PAYMENT-SIGNATURE';

/** Outcome of a call's headers, before its body and query are read. */
export type Preview =
  | { readonly kind: 'answer'; readonly answer: PaidAnswer }
  | { readonly kind: 'payment'; readonly payment: SignedPayment };

export type ChallengesOptions = {
  readonly store: Pick<Store, 'ping'>;
  readonly terms: PaymentTerms;
  readonly baseUrl: string;
};

/** The 402s of the gate, each made once. */
export class Challenges {
  readonly #options: ChallengesOptions;
  /** The last look at the store, which serves all that ask within a second. */
  #look: { readonly atMs: number; readonly answered: Promise<void> } | null = null;
  /** Neither changes while the service runs. */
  readonly #offers = new Map<string, RouteOffer>();
  readonly #unpaidAnswers = new Map<string, PaidAnswer>();

  constructor(options: ChallengesOptions) {
    this.#options = options;
  }

  /**
   * The challenge if there is no payment (always so for HEAD), or if its header cannot be
   * read; else the payment, decoded once. No payer is asked to sign while the store is gone, or
   * while `refuseWhileBusy` throws.
   */
  async preview<Input>(
    route: PaidRoute<Input>,
    headers: PaymentHeaders,
    isHead: boolean,
    refuseWhileBusy: () => void,
  ): Promise<Preview> {
    if (isHead || !hasPaymentHeader(headers)) {
      await this.#refuseWithoutStore();
      refuseWhileBusy();
      return { kind: 'answer', answer: this.#unpaidAnswer(route) };
    }
    try {
      return { kind: 'payment', payment: decodePayment(headers, this.#options.terms) };
    } catch (error) {
      if (!(error instanceof PaymentRefused)) throw error;
      return { kind: 'answer', answer: this.refuse(route, error) };
    }
  }

  findOffer<Input>(route: PaidRoute<Input>): RouteOffer {
    const { terms, baseUrl } = this.#options;
    const offer = this.#offers.get(route.name) ?? toRouteOffer(route, terms, baseUrl);
    this.#offers.set(route.name, offer);
    return offer;
  }

  /** `hasLegacyHeader`: the request carried `X-PAYMENT`, and wants the matching answer. */
  refuse<Input>(
    route: PaidRoute<Input>,
    refused: PaymentRefused,
    hasLegacyHeader = false,
  ): PaidAnswer {
    const { headers, body } = createChallenge(this.findOffer(route), refused);
    const settlement = refused.settlement === null ? null : encodeSettlement(refused.settlement);
    return {
      status: 402,
      headers: {
        ...headers,
        ...(settlement === null ? {} : { 'payment-response': settlement }),
        ...(settlement === null || !hasLegacyHeader ? {} : { 'x-payment-response': settlement }),
      },
      body,
      markWritten() {},
    };
  }

  async #refuseWithoutStore(): Promise<void> {
    const nowMs = performance.now();
    if (this.#look === null || nowMs - this.#look.atMs > LOOK_LIFETIME_MS) {
      this.#look = { atMs: nowMs, answered: this.#options.store.ping() };
    }
    try {
      await this.#look.answered;
    } catch (error) {
      throw new StoreUnavailable(error);
    }
  }

  #unpaidAnswer<Input>(route: PaidRoute<Input>): PaidAnswer {
    const known = this.#unpaidAnswers.get(route.name);
    if (known !== undefined) return known;
    const answer = this.refuse(route, new PaymentRefused('payment_required', PAYMENT_INSTRUCTION));
    this.#unpaidAnswers.set(route.name, answer);
    return answer;
  }
}
