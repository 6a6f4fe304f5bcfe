import { channel } from 'node:diagnostics_channel';
import type { Address } from 'viem';
import { Saturated, ScanProcessing } from '../../errors/errors.ts';
import type { IdentifierScope } from '../../store/identifiers.ts';
import type { Store } from '../../store/store.ts';
import type { PublishScan, StoredPayment } from '../ledger/ledger.ts';
import type { Reconciler } from '../ledger/reconciler.ts';
import type { PaidAnswer, PaidCall, PaidRoute } from '../paid-route.ts';
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
  /** Payment identifier with its network and payer; null if the payload carries none. */
  readonly scope: IdentifierScope | null;
};

/** A paid answer, which can be sent several times. */
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
  /** Null if the transaction is not known, or if the answer is not paid for yet. */
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
   * Another writer has claimed the key, or the client has disconnected. This call, and calls that wait for it, start
   * again. The call of the client that has disconnected then ends.
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
  'computed',
  // The ledger has `settling` on disk, and nothing was sent.
  'intent-synced',
  // The facilitator has answered, and its answer is not stored yet.
  'settled-unread',
  'settled-recorded',
  // The client has half of the body.
  'half-written',
] as const;

export type PaymentStep = (typeof PAYMENT_STEPS)[number];

/** `answer` is published before it is sent, so that a test can write only a part of its body. */
export type PaymentStepMessage =
  | { readonly name: PaymentStep }
  | { readonly name: 'answer'; readonly answer: PaidAnswer; readonly bodyBytes: number };

export const STEPS_CHANNEL = 'x402-scan:payment';

const stepsChannel = channel(STEPS_CHANNEL);

/** Only tests subscribe. Their subscriber is called synchronously, so it can end the process at this step. */
export function publishStep(message: PaymentStepMessage): void {
  if (stepsChannel.hasSubscribers) stepsChannel.publish(message);
}

/** Thrown if the client disconnects, the deadline passes or the service stops. It ends this call, not its purchase. */
export class CallEnded extends Error {
  override readonly name = 'CallEnded';
  readonly reason: 'disconnected' | 'late' | 'stopping';

  constructor(reason: CallEnded['reason']) {
    super(`the call ended: ${reason}`);
    this.reason = reason;
  }
}

/** True if the client has disconnected, so that nobody can be answered. */
export function isDisconnect(error: unknown): boolean {
  return error instanceof CallEnded && error.reason === 'disconnected';
}

/** Turns the end of a call into the error that its client gets. Returns every other error, and a disconnect, as it is. */
export function toAnsweredError(error: unknown): unknown {
  if (!(error instanceof CallEnded) || isDisconnect(error)) return error;
  return error.reason === 'late' ? new ScanProcessing() : new Saturated();
}

/** Throws `CallEnded` unless the call may continue. */
export function throwIfEnded(call: PaidCall, stopping?: AbortSignal): void {
  if (call.disconnect.aborted) throw new CallEnded('disconnected');
  if (stopping?.aborted) throw new CallEnded('stopping');
  if (isLate(call)) throw new CallEnded('late');
}

export function isLate(call: PaidCall): boolean {
  return findLeftMs(call) === 0;
}

type DeadlineOptions = {
  /** Aborts when the service stops. */
  readonly stopping?: AbortSignal;
  /** Makes the error for a call past its deadline; default `CallEnded`. */
  readonly toLateError?: () => Error;
};

/** Waits for work. Throws when the client disconnects, the deadline passes or the service stops. */
export function withDeadline<T>(
  work: Promise<T>,
  call: PaidCall,
  { stopping, toLateError = () => new CallEnded('late') }: DeadlineOptions = {},
): Promise<T> {
  const end = Promise.withResolvers<never>();
  const onDisconnect = () => end.reject(new CallEnded('disconnected'));
  const onStop = () => end.reject(new CallEnded('stopping'));
  if (call.disconnect.aborted) onDisconnect();
  if (stopping?.aborted) onStop();
  call.disconnect.addEventListener('abort', onDisconnect, { once: true });
  stopping?.addEventListener('abort', onStop, { once: true });
  const timer = setTimeout(() => end.reject(toLateError()), findLeftMs(call));
  // An end comes first, so that a call that has ended takes no result.
  return Promise.race([end.promise, work]).finally(() => {
    clearTimeout(timer);
    call.disconnect.removeEventListener('abort', onDisconnect);
    stopping?.removeEventListener('abort', onStop);
  });
}

function findLeftMs({ deadlineMs }: PaidCall): number {
  return Math.max(0, deadlineMs - performance.now());
}
