/** Limits the calls that wait for a share, so that no stranger's waiting calls keep others from waiting. */
import { Saturated, TooManyOpen } from '../../errors/errors.ts';

export const MAX_WAITING = 1_000;
const RETRY_AFTER_SEC = 30;

/** What a waiting call counts against. */
export type Waiter = {
  /** Address block of the client (/24, IPv6 /48); null if it is unknown. */
  readonly block: string | null;
  /** True if the payer has settled a payment here. */
  readonly hasSettled: boolean;
};

export class WaitingPlaces {
  readonly #maxWaiting: number;
  readonly #byBlock = new Map<string, number>();
  #total = 0;
  #neverSettled = 0;

  constructor(maxWaiting = MAX_WAITING) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Takes a place and returns the function that frees it. A block, and all payers together who have never settled,
   * get at most a quarter of the places. Throws Saturated or TooManyOpen if there is no place.
   */
  take(waiter: Waiter): () => void {
    const quarter = Math.max(1, Math.floor(this.#maxWaiting / 4));
    const { block, hasSettled } = waiter;
    if (block !== null && (this.#byBlock.get(block) ?? 0) >= quarter) {
      throw new TooManyOpen(RETRY_AFTER_SEC);
    }
    const isStrangerRefused = !hasSettled && this.#neverSettled >= quarter;
    if (isStrangerRefused || this.#total >= this.#maxWaiting) throw new Saturated();
    this.#add(waiter, 1);
    return () => this.#add(waiter, -1);
  }

  #add({ block, hasSettled }: Waiter, change: 1 | -1): void {
    this.#total += change;
    if (!hasSettled) this.#neverSettled += change;
    if (block === null) return;
    const next = (this.#byBlock.get(block) ?? 0) + change;
    if (next === 0) this.#byBlock.delete(block);
    else this.#byBlock.set(block, next);
  }
}
