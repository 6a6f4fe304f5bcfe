/** Wraps a facilitator: measures its calls, checks its successes on the chain, and refuses wallets that revert. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { Store } from '../../store/store.ts';
import type { ChainEvidence } from '../chain/chain-evidence.ts';
import { isReverted } from '../ledger/ledger.ts';
import type { Facilitator, FacilitatorRequest, OnPaymentEvent } from './facilitator.ts';

const RECEIPT_POLL_INTERVAL_MS = 250;
const MAX_REVERTS_PER_DAY = 2;
const DAY_MS = 24 * 3_600_000;
const REVERT_LIMIT_REASON = 'wallet_reverted_twice_today';
const NO_LEDGER_REASON = 'the ledger does not answer';

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
        const reason = 'success by a transaction that the node does not have';
        return { kind: 'unclear', reason, transaction };
      }
      // The ledger gets no transaction, because this one cannot become the proof of the payment.
      const reason = `success by a transaction that did not pay us (${verdict})`;
      return { kind: 'unclear', reason, transaction: null };
    },
  };
}

/**
 * Refuses a wallet until tomorrow (UTC) if two of its payments have reverted today. The ledger counts them, because
 * it survives restarts and all instances share it.
 */
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
