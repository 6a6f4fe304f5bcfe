/** Payments whose transaction was mined and moved nothing, and the wallets that they came from. */
import type { Hex } from 'viem';

const MAX_A_DAY = 2;
const DAY_MS = 24 * 3_600_000;
/** Longer than any authorization that is taken lives. */
const KEPT_MS = 2 * DAY_MS;

/** Each cost us gas: the key is not sent again, and a wallet that does it twice waits for tomorrow. */
export class RevertedPayments {
  readonly #now: () => number;
  readonly #reverted = new Map<
    string,
    { readonly wallet: string; readonly transaction: Hex; readonly atMs: number }
  >();

  /** `now`: ms since the epoch. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note(key: string, wallet: string, transaction: Hex): void {
    const atMs = this.#now();
    for (const [known, { atMs: thenMs }] of this.#reverted) {
      if (thenMs < atMs - KEPT_MS) this.#reverted.delete(known);
    }
    this.#reverted.set(key, { wallet: wallet.toLowerCase(), transaction, atMs });
  }

  /** The transaction that was reverted, or null. */
  transactionOf(key: string): Hex | null {
    return this.#reverted.get(key)?.transaction ?? null;
  }

  /** Days are those of UTC. */
  isRefused(wallet: string): boolean {
    const today = Math.floor(this.#now() / DAY_MS);
    const ofToday = [...this.#reverted.values()].filter(
      (one) => one.wallet === wallet.toLowerCase() && Math.floor(one.atMs / DAY_MS) === today,
    );
    return ofToday.length >= MAX_A_DAY;
  }
}
