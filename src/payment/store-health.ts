/** Whether the store answers, asked once for all callers of a moment. */
import { StoreUnavailable } from '../errors/errors.ts';
import type { Store } from '../store/contract/store.ts';

/** For so long one look at the store serves all that ask. */
const LOOK_LIFETIME_MS = 1_000;

/** Whether the store answers, asked at most once a second. */
export class StoreHealth {
  readonly #store: Pick<Store, 'ping'>;
  #look: Promise<void> | null = null;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(store: Pick<Store, 'ping'>) {
    this.#store = store;
  }

  /** Throws `StoreUnavailable`. */
  async check(): Promise<void> {
    const nowMs = performance.now();
    if (this.#look === null || nowMs - this.#lookedMs > LOOK_LIFETIME_MS) {
      this.#lookedMs = nowMs;
      this.#look = this.#store.ping();
    }
    try {
      await this.#look;
    } catch (error) {
      throw new StoreUnavailable(error);
    }
  }
}
