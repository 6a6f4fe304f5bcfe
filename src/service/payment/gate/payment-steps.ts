/** Tells tests which step a paid call has reached. In the service itself, nobody listens. */
import { channel } from 'node:diagnostics_channel';
import type { PaidRouteAnswer } from '../paid-route.ts';

/** The points of a paid call at which tests end the process. */
export const PAYMENT_STEPS = [
  // The payment's signature is proved.
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
