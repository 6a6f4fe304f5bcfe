import type { LedgerStore } from '../store/contract/ledger.ts';

/** Knows at once which answers were written in full, and tells the ledger. */
export class WrittenMarks {
  readonly #ledger: LedgerStore;
  readonly #onTrouble: (message: string, error: unknown) => void;
  readonly #pending = new Map<string, Promise<void>>();

  constructor(ledger: LedgerStore, onTrouble: (message: string, error: unknown) => void) {
    this.#ledger = ledger;
    this.#onTrouble = onTrouble;
  }

  mark(key: string): void {
    if (this.#pending.has(key)) return;
    const marking = this.#ledger
      .markWritten(key)
      .catch((error: unknown) => this.#onTrouble(`${key} counts as not written`, error))
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, marking);
  }

  /** Written, and perhaps not yet marked in the ledger. */
  isWritten(key: string): boolean {
    return this.#pending.has(key);
  }

  async flushed(): Promise<void> {
    await Promise.all(this.#pending.values());
  }
}
