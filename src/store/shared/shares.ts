import type { ShareStore } from '../contract/shares.ts';
import type { SlotStore } from '../contract/slots.ts';

/** Shares are slots of their holder. */
export function sharesOn(slots: SlotStore): ShareStore {
  return {
    async take({ holder, limit, attempt, lifetimeMs, outlivesOwner = false }) {
      const endsWithOwner = !outlivesOwner;
      const scope = ['share', holder];
      const outcome = await slots.take({ scope, limit, lifetimeMs, endsWithOwner, attempt });
      return outcome.taken ? { holder, n: outcome.slot.n, attempt } : null;
    },

    release: (share) => slots.release(share),
  };
}
