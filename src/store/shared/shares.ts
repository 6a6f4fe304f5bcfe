/** Shares are slots of their holder. */
import type { ShareStore } from '../contract/shares.ts';
import type { SlotStore } from '../contract/slots.ts';

/** The shares of a store; the same on every store. */
export function sharesOn(slots: SlotStore): ShareStore {
  return {
    async take({ holder, limit, attempt, lifetimeMs, outlivesOwner = false }) {
      const endsWithOwner = !outlivesOwner;
      const scope = scopeOf(holder);
      const outcome = await slots.take({ scope, limit, lifetimeMs, endsWithOwner, attempt });
      return outcome.taken ? { holder, n: outcome.slot.n, attempt } : null;
    },

    release: ({ holder, n, attempt }) => slots.release({ scope: scopeOf(holder), n, attempt }),
  };
}

function scopeOf(holder: string): readonly string[] {
  return ['share', holder];
}
