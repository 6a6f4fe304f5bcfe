/** What every facilitator does, the forms of messages, outcomes and events, and the wrappers of a facilitator. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PaymentPayload } from '@x402/core/types';
import type { Hex } from 'viem';
import type { JsonObject } from '../../../scanner/model/json.ts';
import type { Store } from '../../store/store.ts';
import type { ChainEvidence } from '../chain/chain-evidence.ts';
import type { NodeCall } from '../chain/node-requests.ts';
import { isReverted, type StoredPayment, toAuthorizationTexts } from '../ledger/ledger.ts';
import type { RouteOffer } from '../terms.ts';

export type FacilitatorRequest = {
  readonly payment: StoredPayment;
  /** Facilitators may list the offer's resource in an index. Null if the route no longer exists. */
  readonly offer: RouteOffer | null;
};

type VerifyRequest = FacilitatorRequest & {
  /** True if the gate has checked the signature. If it is false, only the facilitator can check the signature. */
  readonly isSignatureChecked?: boolean;
};

export type VerifyOutcome =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: string }
  /** The facilitator did not judge the payment; a retry may help. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/**
 * Outcome of one send.
 * - `settled`: a well-formed success for this payer and network.
 * - `refused`: the authorization is invalid, and no transaction was sent.
 * - `not_sent`: our check failed or the connection was refused, so no facilitator got the payment.
 * - `nonce_used`: this authorization was used or cancelled before.
 * - `unclear`: any other result. Money may have moved.
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
      /** True if the transaction was mined and reverted. Another send would revert too, at our cost. */
      readonly isReverted?: boolean;
    };

export function toUnclear(reason: string, transaction: Hex | null): SettleOutcome {
  return { kind: 'unclear', reason, transaction };
}

/** Outcome of a send after which money may have moved, but without proof. */
export type DoubtfulOutcome = Extract<SettleOutcome, { readonly kind: 'nonce_used' | 'unclear' }>;

/** Data of a ledger step `unknown`, which is written after a send. */
export function toDoubtData(outcome: DoubtfulOutcome): JsonObject {
  const { reason, transaction } = outcome;
  const isReverted = outcome.kind === 'unclear' && outcome.isReverted === true;
  return { reason, transaction, ...(isReverted ? { isReverted } : {}) };
}

/** A kind of payment that a facilitator accepts. */
export type SupportedKind = {
  readonly x402Version: number;
  readonly scheme: string;
  readonly network: string;
};

/** The facilitator did not answer, or its answer is unusable; a retry may help. */
export class FacilitatorUnreachable extends Error {
  override readonly name = 'FacilitatorUnreachable';
}

/** Verifies and settles payments. `verify` and `settle` never reject. */
export type Facilitator = {
  readonly kind: 'mock' | 'local' | 'remote';
  /** Says in logs where settlements go, without credentials. */
  readonly location: string;
  /** Lists the accepted kinds of payment. Rejects with `FacilitatorUnreachable`. */
  findSupported(): Promise<readonly SupportedKind[]>;
  verify(request: VerifyRequest): Promise<VerifyOutcome>;
  settle(request: FacilitatorRequest): Promise<SettleOutcome>;
  /** Reason, for operators, why nothing can be settled now; null while payments can be settled. */
  unreadyReason?(): string | null;
  /** State of the account that settles, if the account is ours. */
  account?(): AccountStatus | null;
  /** Starts background work. Called when the facilitator has answered for the first time; `stop` ends the work. */
  start?(): void;
  stop?(): Promise<void>;
};

/** State of an account that pays gas, for operators. */
export type AccountStatus = {
  /** Wei, when last read; null before the first reading. */
  readonly balance: bigint | null;
  /** Number of transactions that are sent and not mined. */
  readonly unconfirmedCount: number;
  /** Age of the oldest of these transactions; 0 if there is none. */
  readonly oldestUnconfirmedMs: number;
  /** Number of nonces that the node counts as pending and that we did not use. */
  readonly nonceGap: number;
};

export type PaymentEvent =
  | { readonly kind: 'verified'; readonly outcome: VerifyOutcome['kind']; readonly ms: number }
  /** One send of a payment. The same payment may be sent again. */
  | { readonly kind: 'sent'; readonly outcome: SettleOutcome['kind']; readonly ms: number }
  /** One request to the node behind `RPC_URL`. */
  | (NodeCall & { readonly kind: 'node_call' })
  /** A payer left finished work unpaid. */
  | { readonly kind: 'debt' }
  /** A payment is no longer in doubt. */
  | {
      readonly kind: 'reconciled';
      readonly outcome: 'settled' | 'failed' | 'unproved';
      readonly key: string;
      readonly reason: string;
    }
  /** A payment is still in doubt long after the end of its validity. */
  | { readonly kind: 'overdue'; readonly key: string; readonly reason: string };

export type OnPaymentEvent = (event: PaymentEvent) => void;

/** Writes x402 version 2. Terms, resource and extensions are our own, not the copies that the client sent back. */
export function toFacilitatorMessage({ payment, offer }: FacilitatorRequest) {
  const { requirements } = payment;
  const payload: PaymentPayload = {
    x402Version: 2,
    accepted: requirements,
    payload: {
      signature: payment.signature,
      authorization: toAuthorizationTexts(payment.authorization),
    },
    ...(offer === null ? {} : { resource: offer.resource, extensions: offer.extensions }),
  };
  return { requirements, payload };
}

/** Reports the outcome and the duration of every `verify` and `settle`. */
export function withMetrics(facilitator: Facilitator, onEvent: OnPaymentEvent): Facilitator {
  return {
    ...facilitator,
    async verify(request) {
      const startMs = performance.now();
      const outcome = await facilitator.verify(request);
      onEvent({ kind: 'verified', outcome: outcome.kind, ms: performance.now() - startMs });
      return outcome;
    },
    async settle(request) {
      const startMs = performance.now();
      const outcome = await facilitator.settle(request);
      onEvent({ kind: 'sent', outcome: outcome.kind, ms: performance.now() - startMs });
      return outcome;
    },
  };
}

const RECEIPT_POLL_INTERVAL_MS = 250;

/**
 * Checks a success of the facilitator against the receipt on the chain. If the transaction does not exist or did not
 * pay us, the payment is in doubt. If the node does not answer, the facilitator is believed, because an outage of the
 * node must not stop payments.
 */
export function withChainProof(
  facilitator: Facilitator,
  evidence: ChainEvidence,
  receiptWithinMs: number,
): Facilitator {
  async function awaitVerdict({ payment }: FacilitatorRequest, transaction: Hex) {
    const endMs = performance.now() + receiptWithinMs;
    for (;;) {
      const verdict = await evidence.judgeTransaction(payment, transaction);
      if (verdict !== 'absent' || performance.now() >= endMs) return verdict;
      await pause(Math.min(RECEIPT_POLL_INTERVAL_MS, receiptWithinMs));
    }
  }

  return {
    ...facilitator,
    async settle(request) {
      const outcome = await facilitator.settle(request);
      if (outcome.kind !== 'settled') return outcome;
      const { transaction } = outcome;
      const verdict = await awaitVerdict(request, transaction);
      if (verdict === null || verdict === 'pays') return outcome;
      if (verdict === 'absent') {
        return toUnclear('success by a transaction that the node does not have', transaction);
      }
      // The ledger gets no transaction, because this one cannot become the proof of the payment.
      return toUnclear(`success by a transaction that did not pay us (${verdict})`, null);
    },
  };
}

const MAX_REVERTS_PER_DAY = 2;
const DAY_MS = 24 * 3_600_000;
const REVERT_LIMIT_REASON = 'wallet_reverted_twice_today';
const NO_LEDGER_REASON = 'the ledger does not answer';

/** Refuses a wallet for the rest of the UTC day after two reverts, which the ledger counts for all instances. */
export function withRevertLimit(
  facilitator: Facilitator,
  { ledger, now }: Pick<Store, 'ledger' | 'now'>,
): Facilitator {
  /** Null if the ledger does not answer. */
  async function isOverLimit({ payment }: FacilitatorRequest): Promise<boolean | null> {
    const payer = payment.authorization.from.toLowerCase();
    const sinceMs = Math.floor(now() / DAY_MS) * DAY_MS;
    const doubts = await ledger.findUnknownSteps({ payer, sinceMs }).catch(() => null);
    if (doubts === null) return null;
    return new Set(doubts.filter(isReverted).map(({ key }) => key)).size >= MAX_REVERTS_PER_DAY;
  }

  return {
    ...facilitator,
    async verify(request) {
      const isRefused = await isOverLimit(request);
      if (isRefused === null) return { kind: 'unavailable', reason: NO_LEDGER_REASON };
      if (isRefused) return { kind: 'invalid', reason: REVERT_LIMIT_REASON };
      return facilitator.verify(request);
    },
    // The limit is checked again, because payments that were verified in parallel settle one after another.
    async settle(request) {
      const isRefused = await isOverLimit(request);
      if (isRefused === null) return { kind: 'not_sent', reason: NO_LEDGER_REASON };
      if (isRefused) return { kind: 'refused', reason: REVERT_LIMIT_REASON };
      return facilitator.settle(request);
    },
  };
}
