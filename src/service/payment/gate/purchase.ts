/** Types of a purchase and of its end, the parts that the gate works with, and the steps that tests see. */
import { channel } from 'node:diagnostics_channel';
import type { Address } from 'viem';
import type { PaymentIdentifier } from '../../store/identifiers.ts';
import type { Store } from '../../store/store.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { PublishScan } from '../ledger/ledger-writer.ts';
import type { Reconciler } from '../ledger/reconciler.ts';
import type { PaidCall, PaidRoute, PaidRouteAnswer } from '../paid-route.ts';
import type { Facilitator, OnPaymentEvent } from '../settle/facilitator.ts';
import type { PaymentTerms, RouteOffer } from '../terms.ts';
import type { PaymentTiming } from '../timing.ts';

/** A paid call after its payment and its input were parsed. */
export type Purchase<Input = unknown> = {
  readonly route: PaidRoute<Input>;
  readonly input: Input;
  readonly call: PaidCall;
  /** The payment as its claim stores it. Members that only the header has are in `call.payment`. */
  readonly payment: StoredPayment;
  readonly offer: RouteOffer;
  /** The payment's key in the ledger. */
  readonly key: string;
  /** Address in lower case. */
  readonly payer: string;
  /** Name of the route and canonical text of the input, as the ledger stores them. */
  readonly request: string;
  /** Null if the payload carries no payment identifier. */
  readonly identifier: PaymentIdentifier | null;
};

/** A stored answer. It may be sent any number of times, but only after its payment was settled. */
export type PaidDelivery = {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
  readonly body: string | (() => AsyncIterable<Uint8Array>);
  readonly settlement: DeliverySettlement;
};

export type DeliverySettlement = {
  readonly network: PaymentTerms['network'];
  readonly payer: string;
  /** Null if the transaction is not known, or if the payment is not settled yet. */
  readonly transaction: string | null;
};

/** The end of a purchase's work. */
export type PurchaseOutcome =
  | { readonly kind: 'paid'; readonly delivery: PaidDelivery }
  /** The caller gets this error. The payment was not settled and will not be. */
  | { readonly kind: 'refused'; readonly error: unknown }
  /** The caller gets this error. The reconciler finds out if money has moved. */
  | { readonly kind: 'unknown'; readonly error: Error }
  /**
   * Another writer has claimed the key, or the client has disconnected. Calls that wait for this call start again. So
   * does this call, but it ends at once if its client has disconnected.
   */
  | { readonly kind: 'abandoned' };

export type GateDeps = {
  readonly store: Store;
  readonly terms: PaymentTerms;
  /** Without a trailing slash; every URL that a challenge names begins with it. */
  readonly baseUrl: string;
  readonly facilitator: Facilitator;
  readonly reconciler: Reconciler;
  /** Resolves to true if a contract is at the address; to null if no node is set, or the node does not answer. */
  readonly isContract: (address: Address) => Promise<boolean | null>;
  readonly publish: PublishScan;
  /** True while payments can be taken. */
  readonly isReady: () => boolean;
  /** False lifts the limits of open calls and of unpaid scans. */
  readonly isRateLimited: boolean;
  readonly timing: PaymentTiming;
  /** Calls that may wait for their turn; default 1,000. */
  readonly maxWaiting?: number | undefined;
  /** Reports errors that no caller sees. */
  readonly onError: (message: string, error: unknown) => void;
  /** Reports events for metrics and the log. */
  readonly onEvent?: OnPaymentEvent | undefined;
};

/** The points of a paid call at which tests end the process. */
export const PAYMENT_STEPS = [
  'parsed',
  'claimed',
  'verified',
  'computing',
  // The answer is stored.
  'computed',
  // The ledger has `settling` on disk, and nothing was sent.
  'intent-synced',
  // The facilitator has answered, and its answer is not stored yet.
  'settled-unread',
  // The ledger has `settled`, and nothing is published.
  'settled-recorded',
  // The client has half of the body.
  'half-written',
] as const;

export type PaymentStep = (typeof PAYMENT_STEPS)[number];

/** `answer` is published before it is sent, so that a test can write only a part of its body. */
export type PaymentStepMessage =
  | { readonly name: PaymentStep }
  | { readonly name: 'answer'; readonly answer: PaidRouteAnswer; readonly bodyBytes: number };

export const STEPS_CHANNEL = 'x402-scan:payment';

const stepsChannel = channel(STEPS_CHANNEL);

/** Only tests subscribe. Their subscriber is called synchronously, so it can end the process at this step. */
export function publishStep(message: PaymentStepMessage): void {
  if (stepsChannel.hasSubscribers) stepsChannel.publish(message);
}
