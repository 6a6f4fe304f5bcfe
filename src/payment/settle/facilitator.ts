import type { Hex } from 'viem';
import type { JsonObject } from '../../model/json.ts';
import type { RouteOffer } from '../gate/challenge.ts';
import type { StoredPayment } from '../ledger/ledger.ts';

/** Input of verify and settle. */
export type FacilitatorRequest = {
  readonly payment: StoredPayment;
  /** Lets facilitators list the resource; null for a route that no longer exists. */
  readonly offer: RouteOffer | null;
};

export type VerifyOutcome =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: string }
  /** The facilitator did not judge the payment; we may retry. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/**
 * - `settled`: a well-formed success for this very payer and network.
 * - `refused`: the authorization itself is no good, and nothing was sent.
 * - `not_sent`: the request never left: connection refused, or our own check.
 * - `nonce_used`: this authorization was used, or cancelled, before.
 * - `unclear`: everything else. Money may have moved.
 */
export type SettleOutcome =
  | { readonly kind: 'settled'; readonly transaction: Hex }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not_sent'; readonly reason: string }
  | { readonly kind: 'nonce_used'; readonly reason: string; readonly transaction: Hex | null }
  | {
      readonly kind: 'unclear';
      readonly reason: string;
      readonly transaction: Hex | null;
      /** True where it was mined and reverted; another send would revert too, at our cost. */
      readonly isReverted?: boolean;
    };

/** A send after which money may have moved, without proof. */
export type DoubtfulOutcome = Extract<SettleOutcome, { readonly kind: 'nonce_used' | 'unclear' }>;

/** Data of a step `unknown`, about the send that it follows. */
export function doubtData(outcome: DoubtfulOutcome): JsonObject {
  const { reason, transaction } = outcome;
  const isReverted = outcome.kind === 'unclear' && outcome.isReverted === true;
  return { reason, transaction, ...(isReverted ? { isReverted } : {}) };
}

/** A kind of payment that a facilitator takes. */
export type SupportedKind = {
  readonly x402Version: number;
  readonly scheme: string;
  readonly network: string;
};

/** The facilitator did not answer, or not what was asked; another try may work. */
export class FacilitatorUnreachable extends Error {
  override readonly name = 'FacilitatorUnreachable';
}

/** Verifies and settles payments. `verify` and `settle` never reject. */
export type Facilitator = {
  readonly kind: 'mock' | 'local' | 'remote';
  /** For logs: where settlements go, without credentials. */
  readonly location: string;
  /** Rejects with `FacilitatorUnreachable`. */
  supported(): Promise<readonly SupportedKind[]>;
  verify(request: FacilitatorRequest): Promise<VerifyOutcome>;
  settle(request: FacilitatorRequest): Promise<SettleOutcome>;
  /** Reason for operators that nothing can be settled now; null while it can. */
  trouble?(): string | null;
  /** The account that settles, where it is our own. */
  account?(): AccountStatus | null;
  /** Starts background work, once the facilitator was reached; `stop` ends it. */
  start?(): void;
  stop?(): Promise<void>;
};

/** State of an account that pays gas, for operators. */
export type AccountStatus = {
  /** Wei, as last read; null before that. */
  readonly balance: bigint | null;
  /** Transactions that are sent and not mined. */
  readonly unconfirmed: number;
  readonly oldestUnconfirmedMs: number;
  /** Nonces that the node counts as pending and that are not ours. */
  readonly nonceGap: number;
};

/** The events of a payment, told to the metrics and the log. */
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
  /** A payment whose proof is overdue. */
  | { readonly kind: 'overdue'; readonly key: string; readonly reason: string };

export type OnPaymentEvent = (event: PaymentEvent) => void;
