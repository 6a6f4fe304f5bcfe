import { setTimeout as pause } from 'node:timers/promises';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import type { Hex } from 'viem';
import type { JsonObject } from '../../model/json.ts';
import type { Store } from '../../store/store.ts';
import type { ChainEvidence } from '../chain/chain-evidence.ts';
import type { NodeCall } from '../chain/node-requests.ts';
import { isReverted, type StoredPayment, toAuthorizationTexts } from '../ledger/ledger.ts';
import type { RouteOffer } from '../terms.ts';

/** Input of verify and settle. */
export type FacilitatorRequest = {
  readonly payment: StoredPayment;
  /** Lets facilitators list the resource; null for a route that no longer exists. */
  readonly offer: RouteOffer | null;
};

export type VerifyRequest = FacilitatorRequest & {
  /** True if the gate recovered `from` from the signature; by default the facilitator alone can tell. */
  readonly isSigned?: boolean;
};

export type VerifyOutcome =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: string }
  /** The facilitator did not judge the payment; we may retry. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/**
 * - `settled`: a well-formed success for this very payer and network.
 * - `refused`: the authorization itself is invalid, and nothing was sent.
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
      /** True if it was mined and reverted; another send would revert too, at our cost. */
      readonly isReverted?: boolean;
    };

/** A send after which money may have moved, without proof. */
export type DoubtfulOutcome = Extract<SettleOutcome, { readonly kind: 'nonce_used' | 'unclear' }>;

/** Data of a step `unknown`, about the send that it follows. */
export function toDoubtData(outcome: DoubtfulOutcome): JsonObject {
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
  verify(request: VerifyRequest): Promise<VerifyOutcome>;
  settle(request: FacilitatorRequest): Promise<SettleOutcome>;
  /** Reason for operators that nothing can be settled now; null while it can. */
  unreadyReason?(): string | null;
  /** The account that settles, if it is our own. */
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
  | (NodeCall & { readonly kind: 'node_call' })
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

export type FacilitatorMessage = {
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
};

/**
 * Writes a payment as version 2, even if it came as version 1. Terms, resource and extensions are our
 * own; those that the client sent back are neither read nor passed on.
 */
export function toFacilitatorMessage({ payment, offer }: FacilitatorRequest): FacilitatorMessage {
  const requirements = { ...payment.requirements, extra: { ...payment.requirements.extra } };
  return {
    requirements,
    payload: {
      x402Version: 2,
      accepted: requirements,
      payload: {
        signature: payment.signature,
        authorization: toAuthorizationTexts(payment.authorization),
      },
      ...(offer === null ? {} : { resource: offer.resource, extensions: offer.extensions }),
    },
  };
}

/** Nodes learn of a block some moments after the facilitator that waited for it. */
const RECEIPT_WITHIN_MS = 5_000;
const LOOK_INTERVAL_MS = 250;
const MAX_REVERTS_A_DAY = 2;
const DAY_MS = 24 * 3_600_000;
const REVERTED_TWICE = 'wallet_reverted_twice_today';
const LEDGER_SILENT = 'the ledger does not answer';

/** Reports outcome and duration of every call. */
export function withMetrics(facilitator: Facilitator, onEvent: OnPaymentEvent): Facilitator {
  return {
    ...facilitator,
    supported: () => facilitator.supported(),
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

/**
 * Catches a success that names the transaction of another payment, or one that was never sent: both
 * are in doubt, and the chain decides. If the node does not answer, the facilitator is believed:
 * an outage of one of them must not stop payments.
 */
export function withChainProof(
  facilitator: Facilitator,
  evidence: ChainEvidence,
  receiptWithinMs = RECEIPT_WITHIN_MS,
): Facilitator {
  async function proofOf(
    { payment }: FacilitatorRequest,
    transaction: Parameters<ChainEvidence['prove']>[1],
  ) {
    const endMs = performance.now() + receiptWithinMs;
    for (;;) {
      const proof = await evidence.prove(payment, transaction);
      if (proof !== 'absent' || performance.now() >= endMs) return proof;
      await pause(Math.min(LOOK_INTERVAL_MS, receiptWithinMs));
    }
  }

  return {
    ...facilitator,
    supported: () => facilitator.supported(),
    verify: (request) => facilitator.verify(request),
    async settle(request) {
      const outcome = await facilitator.settle(request);
      if (outcome.kind !== 'settled') return outcome;
      const { transaction } = outcome;
      const proof = await proofOf(request, transaction);
      if (proof === null || proof === 'pays') return outcome;
      if (proof === 'absent') {
        const reason = 'success by a transaction that the node does not have';
        return { kind: 'unclear', reason, transaction };
      }
      const reason = `success by a transaction that did not pay us (${proof})`;
      return { kind: 'unclear', reason, transaction: null };
    },
  };
}

/**
 * Refuses wallets that reverted two payments today (UTC), until tomorrow. The ledger counts them, so
 * that a restart forgets none and every instance knows them.
 */
export function withRevertLimit(
  facilitator: Facilitator,
  { ledger, now }: Pick<Store, 'ledger' | 'now'>,
): Facilitator {
  /** Null if the ledger does not answer. */
  async function isRefused({ payment }: FacilitatorRequest): Promise<boolean | null> {
    const payer = payment.authorization.from.toLowerCase();
    const sinceMs = Math.floor(now() / DAY_MS) * DAY_MS;
    const doubts = await ledger.findUnknownSteps({ payer, sinceMs }).catch(() => null);
    if (doubts === null) return null;
    return new Set(doubts.filter(isReverted).map(({ key }) => key)).size >= MAX_REVERTS_A_DAY;
  }

  return {
    ...facilitator,
    async verify(request) {
      const refused = await isRefused(request);
      if (refused === null) return { kind: 'unavailable', reason: LEDGER_SILENT };
      return refused ? { kind: 'invalid', reason: REVERTED_TWICE } : facilitator.verify(request);
    },
    // Checked again, because payments that were verified in parallel settle one after the other.
    async settle(request) {
      const refused = await isRefused(request);
      if (refused === null) return { kind: 'not_sent', reason: LEDGER_SILENT };
      return refused ? { kind: 'refused', reason: REVERTED_TWICE } : facilitator.settle(request);
    },
  };
}
