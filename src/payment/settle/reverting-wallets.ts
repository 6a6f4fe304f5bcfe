import type { LedgerStore } from '../../store/ledger.ts';
import { isReverted } from '../ledger/ledger.ts';
import type { Facilitator } from './facilitator.ts';

const MAX_A_DAY = 2;
const DAY_MS = 24 * 3_600_000;
const REFUSED = 'wallet_reverted_twice_today';

export type RevertingWalletsOptions = {
  readonly ledger: LedgerStore;
  /** Database time, ms. */
  readonly now: () => number;
};

/**
 * Refuses wallets that reverted two payments today (UTC), until tomorrow. The ledger counts them, so
 * that a restart forgets none and every host knows them.
 */
export function refusingReverters(
  facilitator: Facilitator,
  { ledger, now }: RevertingWalletsOptions,
): Facilitator {
  async function isRefused(wallet: string): Promise<boolean> {
    const sinceMs = Math.floor(now() / DAY_MS) * DAY_MS;
    const doubts = await ledger.doubts({ payer: wallet.toLowerCase(), sinceMs });
    return new Set(doubts.filter(isReverted).map(({ key }) => key)).size >= MAX_A_DAY;
  }

  return {
    ...facilitator,
    async verify(request) {
      const refused = await isRefused(request.payment.authorization.from).catch(() => null);
      if (refused === null) return { kind: 'unavailable', reason: 'the ledger does not answer' };
      return refused ? { kind: 'invalid', reason: REFUSED } : facilitator.verify(request);
    },
    // Checked again, because payments that were verified in parallel settle one after the other.
    async settle(request) {
      const refused = await isRefused(request.payment.authorization.from).catch(() => null);
      if (refused === null) return { kind: 'not_sent', reason: 'the ledger does not answer' };
      return refused ? { kind: 'refused', reason: REFUSED } : facilitator.settle(request);
    },
  };
}
