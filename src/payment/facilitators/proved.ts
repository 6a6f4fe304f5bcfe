/** A facilitator whose successes are held against the receipts that they name. */
import type { ChainEvidence } from '../chain/chain-evidence.ts';
import type { Facilitator, SettleOutcome } from '../facilitator.ts';

/**
 * Catches one that names the transaction of another payment. A receipt that the node does not have yet
 * proves nothing, and the facilitator is believed.
 */
export function proved(facilitator: Facilitator, evidence: ChainEvidence): Facilitator {
  return {
    kind: facilitator.kind,
    location: facilitator.location,
    supported: () => facilitator.supported(),
    verify: (request) => facilitator.verify(request),
    async settle(request): Promise<SettleOutcome> {
      const outcome = await facilitator.settle(request);
      if (outcome.kind !== 'settled') return outcome;
      const proof = await evidence.prove(request.payment, outcome.transaction);
      if (proof === null || proof === 'pays') return outcome;
      const reason = `success by a transaction that did not pay us (${proof})`;
      return { kind: 'unclear', reason, transaction: null };
    },
  };
}
