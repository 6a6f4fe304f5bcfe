/** A facilitator whose every answer is counted. */
import type { Facilitator, OnPaymentEvent } from './facilitator.ts';

export function metered(facilitator: Facilitator, onEvent: OnPaymentEvent): Facilitator {
  return {
    kind: facilitator.kind,
    location: facilitator.location,
    supported: () => facilitator.supported(),
    trouble: () => facilitator.trouble?.() ?? null,
    start: () => facilitator.start?.(),
    stop: async () => facilitator.stop?.(),
    account: () => facilitator.account?.() ?? null,
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
