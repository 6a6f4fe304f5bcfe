import { setTimeout as pause } from 'node:timers/promises';
import type { ChainEvidence } from '../chain/chain-evidence.ts';
import type { Facilitator, FacilitatorRequest, SettleOutcome } from './facilitator.ts';

/** Nodes learn of a block some moments after the facilitator that waited for it. */
const RECEIPT_WITHIN_MS = 5_000;
const LOOK_INTERVAL_MS = 250;

/**
 * Catches a success that names the transaction of another payment, or one that was never sent: both
 * are in doubt, and the chain decides. Where the node does not answer, the facilitator is believed:
 * an outage of one of them must not stop payments.
 */
export function proved(
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
    kind: facilitator.kind,
    location: facilitator.location,
    supported: () => facilitator.supported(),
    verify: (request) => facilitator.verify(request),
    async settle(request): Promise<SettleOutcome> {
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
