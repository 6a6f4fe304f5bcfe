import { channel } from 'node:diagnostics_channel';
import type { PaidAnswer } from './paid-route.ts';

/** The points of a paid call at which a process may die. */
export const PAYMENT_STEPS = [
  'parsed',
  'claimed',
  'verified',
  'computing',
  'computed',
  'intent-synced',
  'settled-unread',
  'settled-recorded',
  'half-written',
] as const;

export type PaymentStep = (typeof PAYMENT_STEPS)[number];

/** `answer` is published before it is sent: whoever subscribes may send its body otherwise. */
export type PaymentStepMessage =
  | { readonly name: PaymentStep }
  | { readonly name: 'answer'; readonly answer: PaidAnswer; readonly bodyBytes: number };

export const STEPS_CHANNEL = 'x402-scan:payment';

const steps = channel(STEPS_CHANNEL);

/** Only tests subscribe: they end the process, synchronously, where it stands. */
export function publishStep(message: PaymentStepMessage): void {
  if (steps.hasSubscribers) steps.publish(message);
}
