import { channel } from 'node:diagnostics_channel';
import type { Address } from 'viem';
import type { IdentifierScope } from '../../store/identifiers.ts';
import type { Store } from '../../store/store.ts';
import type { PublishByRoute } from '../ledger/ledger.ts';
import type { Reconciler } from '../ledger/reconciler.ts';
import type { PaidAnswer, PaidCall, PaidRoute, SignedPayment } from '../paid-route.ts';
import type { Facilitator, OnPaymentEvent } from '../settle/facilitator.ts';
import type { PaymentTerms, RouteOffer } from '../terms.ts';

/** A decoded paid request: payer, route, input and payment. */
export type Purchase<Input = unknown> = {
  readonly route: PaidRoute<Input>;
  readonly input: Input;
  readonly call: PaidCall;
  readonly payment: SignedPayment;
  readonly offer: RouteOffer;
  readonly key: string;
  /** Lower case. */
  readonly payer: string;
  /** Route and canonical input, as the ledger knows them. */
  readonly request: string;
  /** The payment identifier, if the payload carries one. */
  readonly scope: IdentifierScope | null;
};

/** A paid answer, ready for as many connections as ask for it. */
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
  /** Null if only the chain knows it, or the answer is not paid for yet. */
  readonly transaction: string | null;
};

/** Outcome of a purchase's run. Its key is free by then, or its end is in the ledger. */
export type PurchaseOutcome =
  | { readonly kind: 'paid'; readonly delivery: PaidDelivery }
  /** Answered with this error; the payment settles nothing, now or later. */
  | { readonly kind: 'refused'; readonly error: unknown }
  /** Answered with this error; the reconciler finds out whether money moved. */
  | { readonly kind: 'unknown'; readonly error: Error }
  /** Another writer holds the key; calls that still wait start again. */
  | { readonly kind: 'abandoned' }
  /** The client hung up: no caller is left to be answered. */
  | { readonly kind: 'disconnected' };

/** Dependencies of the gate. */
export type GateDeps = {
  readonly store: Store;
  readonly terms: PaymentTerms;
  /** Without a trailing slash; every URL that a challenge names begins with it. */
  readonly baseUrl: string;
  readonly facilitator: Facilitator;
  readonly reconciler: Reconciler;
  /** Resolves to true if a contract is at the address; null without a node, or without its answer. */
  readonly isContract: (address: Address) => Promise<boolean | null>;
  readonly publish: PublishByRoute;
  /** True once the facilitator was reached. */
  readonly isReady: () => boolean;
  /** False lifts the limits of open calls and of unpaid scans. */
  readonly isRateLimited: boolean;
  /** Wait of a call for the outcome of its own settlement; default 20 s. */
  readonly reconcileWithinMs?: number | undefined;
  /** Wait of a later call for it; default 5 s. */
  readonly retryWithinMs?: number | undefined;
  /** Wait of a call in the queue of fair shares; default 30 s. */
  readonly turnWithinMs?: number | undefined;
  /** Reports errors that no caller sees. */
  readonly onError: (message: string, error: unknown) => void;
  /** Reports events for metrics and the log. */
  readonly onEvent?: OnPaymentEvent | undefined;
};

export const RECONCILE_WITHIN_MS = 20_000;
export const RETRY_WITHIN_MS = 5_000;
export const TURN_WITHIN_MS = 30_000;

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
