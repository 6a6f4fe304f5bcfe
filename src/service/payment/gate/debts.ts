/** Marks work that its payer has not paid for, and refuses payers who left too much finished work unpaid. */
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { UnpaidScans } from '../../errors/errors.ts';
import type { Store } from '../../store/store.ts';
import { isPaid } from '../ledger/ledger.ts';
import type { ComputedAnswer } from '../paid-route.ts';
import type { GateDeps, Purchase } from './purchase.ts';

/** A debt is finished work that its payer left unpaid. It counts against the payer for an hour. */
export const MAX_DEBTS_PER_HOUR = 5;
const HOUR_MS = 3_600_000;

/** Returns the times of this payer's debts of the last hour, newest first. */
export async function findDebtTimes(
  stores: Pick<Store, 'results' | 'now'>,
  payer: string,
): Promise<readonly number[]> {
  const marks = await stores.results.findUnpaid(payer, stores.now() - HOUR_MS);
  return marks.filter(({ isDebt }) => isDebt).map(({ atMs }) => atMs);
}

/** Refuses a payer with too many debts, unless this request would pay for finished work. */
export async function refuseDebtor<Input>(
  stores: Pick<Store, 'results' | 'now'>,
  { route, input, payer }: Purchase<Input>,
): Promise<void> {
  const debtTimesMs = await findDebtTimes(stores, payer);
  // When this debt is an hour old, the payer is within the limit again.
  const firstOverLimitMs = debtTimesMs[MAX_DEBTS_PER_HOUR];
  if (firstOverLimitMs === undefined || (await route.workLimit?.isFinished(input, payer))) return;
  const retryAfterSec = Math.ceil((firstOverLimitMs + HOUR_MS - stores.now()) / 1000);
  throw new UnpaidScans(MAX_DEBTS_PER_HOUR, Math.max(1, retryAfterSec));
}

/** A call settles within this time after its work has ended. */
const MAX_SETTLING_MS = 15 * 60_000;

/** Marks the work of one call in the store until its payer has paid for it. */
export class DebtRecord {
  readonly #deps: Pick<GateDeps, 'store' | 'onError' | 'onEvent'>;
  readonly #purchase: Purchase;
  /** Id of the scan or of the stored answer; undefined until it is known. */
  #workId: string | undefined;

  constructor(deps: Pick<GateDeps, 'store' | 'onError' | 'onEvent'>, purchase: Purchase) {
    this.#deps = deps;
    this.#purchase = purchase;
  }

  setWork(workId: string): void {
    this.#workId = workId;
  }

  /**
   * Marks the work as unpaid work of its payer, even while it runs. The mark is in the store when this resolves, so a
   * retry finds the scan. When the work has ended, calls `release`, and makes the work a debt if `isDebt` is true.
   */
  async markUnpaid(
    computing: Promise<ComputedAnswer>,
    isDebt: boolean,
    release: () => void,
  ): Promise<void> {
    let hasEnded = false;
    const ending = computing.then(
      async ({ scanId }) => {
        hasEnded = true;
        this.#workId = scanId ?? this.#workId;
        await this.#writeMark(isDebt);
      },
      async () => {
        hasEnded = true;
        await this.clear();
      },
    );
    // `ending` never rejects, because both callbacks report the errors of the store.
    ending.finally(release);
    // If the work has already ended, its callback runs in this wait. One mark is then enough.
    await eventLoopTurn();
    await (hasEnded ? ending : this.#writeMark(false));
  }

  /** Removes the mark, because the work was paid for, or failed. */
  async clear(): Promise<void> {
    const { store, onError } = this.#deps;
    const { payer } = this.#purchase;
    const scanId = this.#workId;
    if (scanId === undefined) return;
    await store.results.clearUnpaid({ payer, scanId }).catch((error: unknown) => {
      onError(`${scanId} still counts as unpaid work of ${payer}`, error);
    });
  }

  /** `isDebt` is true if the payer could have paid. It is false while the work runs, and if the fault is ours. */
  async #writeMark(isDebt: boolean): Promise<void> {
    const { store, onError, onEvent } = this.#deps;
    const { payer, request, route, input } = this.#purchase;
    const scanId = this.#workId;
    if (scanId === undefined) return;
    if (isDebt) onEvent?.({ kind: 'debt' });
    try {
      await store.results.noteUnpaid({ payer, scanId, host: route.toHost?.(input) ?? '', isDebt });
      // Another call of this payer may have paid for the work just before this mark was written.
      const sinceMs = store.now() - MAX_SETTLING_MS;
      const entries = await store.ledger.findRecent({ payer, request, sinceMs });
      const isSold = entries.some(({ last }) => isPaid(last.state) && last.scanId === scanId);
      if (isSold) await store.results.clearUnpaid({ payer, scanId });
    } catch (error) {
      onError(`the unpaid work ${scanId} of ${payer} could not be marked`, error);
    }
  }
}
