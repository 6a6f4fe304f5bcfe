/** The 402s of the gate, each made once. */
import type { Store } from '../store/contract/store.ts';
import {
  challengeFor,
  encodeSettlement,
  offerOf,
  PaymentRefused,
  type PaymentTerms,
  type RouteOffer,
} from './challenge.ts';
import type { PaidAnswer, PaidRoute } from './paid-route.ts';
import { StoreHealth } from './store-health.ts';

const INVITATION = 'sign one entry of "accepts" and send it, base64 of JSON, as PAYMENT-SIGNATURE';

export type ChallengesOptions = {
  readonly store: Pick<Store, 'ping'>;
  readonly terms: PaymentTerms;
  readonly baseUrl: string;
};

export class Challenges {
  readonly #options: ChallengesOptions;
  readonly #health: StoreHealth;
  /** Neither changes while the service runs. */
  readonly #offers = new Map<string, RouteOffer>();
  readonly #invitations = new Map<string, PaidAnswer>();

  constructor(options: ChallengesOptions) {
    this.#options = options;
    this.#health = new StoreHealth(options.store);
  }

  /** Nobody is invited to sign while the store is gone: throws `StoreUnavailable`. */
  checkStore(): Promise<void> {
    return this.#health.check();
  }

  offerOf<Input>(route: PaidRoute<Input>): RouteOffer {
    const { terms, baseUrl } = this.#options;
    const offer = this.#offers.get(route.name) ?? offerOf(route, terms, baseUrl);
    this.#offers.set(route.name, offer);
    return offer;
  }

  invite<Input>(route: PaidRoute<Input>): PaidAnswer {
    const known = this.#invitations.get(route.name);
    if (known !== undefined) return known;
    const invitation = this.refuse(route, new PaymentRefused('payment_required', INVITATION));
    this.#invitations.set(route.name, invitation);
    return invitation;
  }

  /** `legacyHeader`: the request carried `X-PAYMENT`, and wants the matching answer. */
  refuse<Input>(
    route: PaidRoute<Input>,
    refused: PaymentRefused,
    legacyHeader = false,
  ): PaidAnswer {
    const { headers, body } = challengeFor(this.offerOf(route), refused);
    const settlement = refused.settlement === null ? null : encodeSettlement(refused.settlement);
    return {
      status: 402,
      headers: {
        ...headers,
        ...(settlement === null ? {} : { 'payment-response': settlement }),
        ...(settlement === null || !legacyHeader ? {} : { 'x-payment-response': settlement }),
      },
      body,
      written() {},
    };
  }
}
