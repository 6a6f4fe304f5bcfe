import type { UnpaidWork } from '../../../payment/paid-route.ts';
import type { Store } from '../../../store/contract/store.ts';

/** So many finished scans an hour may a payer leave unpaid. */
export const UNPAID_SCANS_PER_HOUR = 5;
const HOUR_MS = 3_600_000;

/** Scans cost us something, whether or not their payer stays. */
export function unpaidScans(store: Store): UnpaidWork {
  const { results } = store;
  return {
    async note({ payer, scanId }) {
      const result = await results.byScan(scanId);
      if (result !== null)
        await results.noteUnpaid({ payer, scanId, host: result.host, isDebt: true });
    },
    clear: (mark) => results.clearUnpaid(mark),
    async blockedUntilMs(payer) {
      const left = await results.unpaid(payer, store.now() - HOUR_MS);
      // Newest first: when this one is an hour old, no more than the allowed number is left.
      const oneTooMany = left[UNPAID_SCANS_PER_HOUR];
      return oneTooMany === undefined ? null : oneTooMany.atMs + HOUR_MS;
    },
  };
}
