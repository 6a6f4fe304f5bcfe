/** Facilitators around a facilitator: each adds one concern to what `verify` or `settle` answers. */
import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerStore } from '../../store/ledger.ts';
import type { ChainEvidence } from '../chain/chain-evidence.ts';
import { isReverted } from '../ledger/ledger.ts';
import type { Facilitator, FacilitatorRequest, OnPaymentEvent } from './facilitator.ts';

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

export type RevertLimitOptions = {
  readonly ledger: LedgerStore;
  /** Database time, ms. */
  readonly now: () => number;
};

/**
 * Refuses wallets that reverted two payments today (UTC), until tomorrow. The ledger counts them, so
 * that a restart forgets none and every instance knows them.
 */
export function withRevertLimit(
  facilitator: Facilitator,
  { ledger, now }: RevertLimitOptions,
): Facilitator {
  /** Null if the ledger does not answer. */
  async function isRefused({ payment }: FacilitatorRequest): Promise<boolean | null> {
    const payer = payment.authorization.from.toLowerCase();
    const sinceMs = Math.floor(now() / DAY_MS) * DAY_MS;
    const doubts = await ledger.doubts({ payer, sinceMs }).catch(() => null);
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
