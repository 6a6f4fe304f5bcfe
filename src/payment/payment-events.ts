/** The events of a payment, told to the metrics and the log. */
import type { SettleOutcome, VerifyOutcome } from './facilitator.ts';

export type PaymentEvent =
  | { readonly kind: 'verified'; readonly outcome: VerifyOutcome['kind']; readonly ms: number }
  /** One send, the first of its key or a later one. */
  | { readonly kind: 'sent'; readonly outcome: SettleOutcome['kind']; readonly ms: number }
  /** One request to the node behind `RPC_URL`. */
  | {
      readonly kind: 'node_call';
      readonly method: string;
      readonly ms: number;
      readonly isError: boolean;
    }
  /** Finished work that its payer could have paid for, and did not. */
  | { readonly kind: 'debt' }
  /** A payment in doubt has come to its end. */
  | {
      readonly kind: 'reconciled';
      readonly outcome: 'settled' | 'failed' | 'unproved';
      readonly key: string;
      readonly reason: string;
    }
  /** A payment whose end should be known by now, and is not. */
  | { readonly kind: 'overdue'; readonly key: string; readonly reason: string };

export type OnPaymentEvent = (event: PaymentEvent) => void;
