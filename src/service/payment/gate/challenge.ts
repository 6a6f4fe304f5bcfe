import { encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { StoreUnavailable } from '../../errors/errors.ts';
import type { PaidRoute, PaidRouteAnswer, SignedPayment } from '../paid-route.ts';
import { type RouteOffer, toRouteOffer } from '../terms.ts';
import { decodePayment, hasPaymentHeader, type PaymentHeaders } from './payment-header.ts';
import type { GateDeps } from './purchase.ts';
import { encodeSettlement, PaymentRefused } from './refusals.ts';

/** Clients copy the whole challenge into their payment header, and that header has a maximum length too. */
const MAX_CHALLENGE_HEADER_LENGTH = 4_095;

/** `PAYMENT-REQUIRED` encodes exactly the JSON of the body. Throws if the header is too long for clients to copy. */
export function createChallenge(offer: RouteOffer, { code, message }: PaymentRefused) {
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

const PING_LIFETIME_MS = 1_000;
const PAYMENT_INSTRUCTION =
  'sign one entry of "accepts" and send it, base64 of JSON, as PAYMENT-SIGNATURE';

/** Result of reading the headers of a call. Its body and query are not read yet. */
export type PaymentReading =
  | { readonly kind: 'answer'; readonly answer: PaidRouteAnswer }
  | { readonly kind: 'payment'; readonly payment: SignedPayment };

/** Makes the 402 answers of the gate. The 402 for calls without a payment is made once for each route. */
export class Challenges {
  readonly #options: Pick<GateDeps, 'store' | 'terms' | 'baseUrl'>;
  /** The last ping of the store. All calls of the next second share this ping. */
  #ping: { readonly atMs: number; readonly answer: Promise<void> } | null = null;
  readonly #offers = new Map<string, RouteOffer>();
  readonly #unpaidAnswers = new Map<string, PaidRouteAnswer>();

  constructor(options: Pick<GateDeps, 'store' | 'terms' | 'baseUrl'>) {
    this.#options = options;
  }

  /**
   * Returns the decoded payment. Returns a challenge for HEAD, and if the payment header is missing or unreadable.
   * Without a payment it throws if the store does not answer or `refuseWhileBusy` throws: no payer should sign then.
   */
  async readPayment<Input>(
    route: PaidRoute<Input>,
    headers: PaymentHeaders,
    isHead: boolean,
    refuseWhileBusy: () => void,
  ): Promise<PaymentReading> {
    if (isHead || !hasPaymentHeader(headers)) {
      await this.#requireStore();
      refuseWhileBusy();
      return { kind: 'answer', answer: this.#findUnpaidAnswer(route) };
    }
    try {
      return { kind: 'payment', payment: decodePayment(headers, this.#options.terms) };
    } catch (error) {
      if (!(error instanceof PaymentRefused)) throw error;
      return { kind: 'answer', answer: this.toRefusal(route, error) };
    }
  }

  findOffer<Input>(route: PaidRoute<Input>): RouteOffer {
    const { terms, baseUrl } = this.#options;
    const offer = this.#offers.get(route.name) ?? toRouteOffer(route, terms, baseUrl);
    this.#offers.set(route.name, offer);
    return offer;
  }

  /** `hasLegacyHeader`: the request carried `X-PAYMENT`, so the answer carries `X-PAYMENT-RESPONSE`. */
  toRefusal<Input>(
    route: PaidRoute<Input>,
    refusal: PaymentRefused,
    hasLegacyHeader = false,
  ): PaidRouteAnswer {
    const { headers, body } = createChallenge(this.findOffer(route), refusal);
    const settlement = refusal.settlement === null ? null : encodeSettlement(refusal.settlement);
    return {
      status: 402,
      headers: {
        ...headers,
        ...(settlement === null ? {} : { 'payment-response': settlement }),
        ...(settlement === null || !hasLegacyHeader ? {} : { 'x-payment-response': settlement }),
      },
      body,
      markWritten() {}, // only the delivery of bought answers is recorded
    };
  }

  async #requireStore(): Promise<void> {
    const nowMs = performance.now();
    if (this.#ping === null || nowMs - this.#ping.atMs > PING_LIFETIME_MS) {
      this.#ping = { atMs: nowMs, answer: this.#options.store.ping() };
    }
    try {
      await this.#ping.answer;
    } catch (error) {
      throw new StoreUnavailable(error);
    }
  }

  #findUnpaidAnswer<Input>(route: PaidRoute<Input>): PaidRouteAnswer {
    const cached = this.#unpaidAnswers.get(route.name);
    if (cached !== undefined) return cached;
    const answer = this.toRefusal(
      route,
      new PaymentRefused('payment_required', PAYMENT_INSTRUCTION),
    );
    this.#unpaidAnswers.set(route.name, answer);
    return answer;
  }
}
