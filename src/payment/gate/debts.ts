/** Debts: finished work is kept for the payer who has not paid for it, and counts against them for an hour. */
import { setImmediate as turn } from 'node:timers/promises';
import { UnpaidScans } from '../../model/errors.ts';
import type { Store } from '../../store/store.ts';
import { isPaid } from '../ledger/ledger.ts';
import type { ComputedAnswer } from '../paid-route.ts';
import type { GateDeps, Purchase } from './purchase.ts';

/** Finished scans that a payer may leave unpaid in an hour. */
export const MAX_DEBTS_PER_HOUR = 5;
const HOUR_MS = 3_600_000;
/** Longer than a call can take from its end of work to its settlement. */
const JUST_NOW_MS = 15 * 60_000;

type Stores = Pick<Store, 'results' | 'ledger' | 'now'>;

/** The scan, or stored answer, that a call leaves behind and that its payer may still pay for. */
export class DebtRecord {
  readonly #deps: Pick<GateDeps, 'store' | 'onError' | 'onEvent'>;
  readonly #purchase: Purchase;
  #scanId: string | undefined;

  constructor(deps: Pick<GateDeps, 'store' | 'onError' | 'onEvent'>, purchase: Purchase) {
    this.#deps = deps;
    this.#purchase = purchase;
  }

  isAbout(scanId: string): void {
    this.#scanId = scanId;
  }

  /**
   * Keeps the work for its payer, also if it is not finished yet: the mark is in the store when
   * this resolves, so a retry finds the scan. It is a debt once the work has ended, if `isDebt`.
   */
  async keep(
    computing: Promise<ComputedAnswer>,
    isDebt: boolean,
    release: () => void,
  ): Promise<void> {
    let hasEnded = false;
    const later = computing.then(
      async ({ scanId }) => {
        hasEnded = true;
        this.#scanId = scanId ?? this.#scanId;
        await this.#note(isDebt);
      },
      async () => {
        hasEnded = true;
        await this.clear();
      },
    );
    later.finally(release);
    // Lets promises that are settled already run what waits for them.
    await turn();
    await (hasEnded ? later : this.#note(false));
  }

  /** Removes the mark: the work was paid for, or failed. */
  async clear(): Promise<void> {
    const { store, onError } = this.#deps;
    const { payer } = this.#purchase;
    const scanId = this.#scanId;
    if (scanId === undefined) return;
    await store.results.clearUnpaid({ payer, scanId }).catch((error: unknown) => {
      onError(`${payer} owes nothing for ${scanId}, which still counts`, error);
    });
  }

  /** `isDebt`: the payer could have paid; false while the work goes on, and after a fault of ours. */
  async #note(isDebt: boolean): Promise<void> {
    const { store, onError, onEvent } = this.#deps;
    const { payer, request, route, input } = this.#purchase;
    const scanId = this.#scanId;
    if (scanId === undefined) return;
    if (isDebt) onEvent?.({ kind: 'debt' });
    try {
      await store.results.noteUnpaid({ payer, scanId, host: route.toHost?.(input) ?? '', isDebt });
      // Another call of this payer may have paid for it, and cleared the mark, before it was written.
      const sinceMs = store.now() - JUST_NOW_MS;
      const entries = await store.ledger.findRecent({ payer, request, sinceMs });
      const isSold = entries.some(({ last }) => isPaid(last.state) && last.scanId === scanId);
      if (isSold) await store.results.clearUnpaid({ payer, scanId });
    } catch (error) {
      onError(`${payer} left ${scanId} unpaid, unnoted`, error);
    }
  }
}

/** Times of this payer's debts of the last hour, newest first. */
export async function findDebts(stores: Stores, payer: string): Promise<readonly number[]> {
  const marks = await stores.results.findUnpaid(payer, stores.now() - HOUR_MS);
  return marks.filter(({ isDebt }) => isDebt).map(({ atMs }) => atMs);
}

/** Refuses a payer who left too much unpaid, unless they want to pay for this very request. */
export async function refuseDebtor<Input>(
  stores: Stores,
  { route, input, payer }: Purchase<Input>,
): Promise<void> {
  const debts = await findDebts(stores, payer);
  // Once this debt is an hour old, the payer is within the limit again.
  const oneTooMany = debts[MAX_DEBTS_PER_HOUR];
  if (oneTooMany === undefined || (await route.workLimit?.isFinished(input, payer))) return;
  const retryAfterSec = Math.ceil((oneTooMany + HOUR_MS - stores.now()) / 1000);
  throw new UnpaidScans(MAX_DEBTS_PER_HOUR, Math.max(1, retryAfterSec));
}
