/** Limits the decoded text that all running scans hold at once. */

/** One scan's share of the budget. */
export type TextShare = {
  /** Characters that the scan keeps from now on. */
  hold(characters: number): void;
  /** Gives back everything: nothing of the scan is kept any more. */
  release(): void;
};

/** Whichever of the two V8 takes: one character beyond Latin-1 makes a text of two bytes each. */
const BYTES_PER_CHARACTER = 2;
const MAX_BYTES = 128 * 1_048_576;

export type TextBudgetOptions = {
  readonly maxBytes?: number;
  /** Told when the budget is used up, and when there is room again. */
  readonly onChange?: (isSaturated: boolean) => void;
};

/**
 * Bytes are capped for each answer as they arrive, but a megabyte that travels as a kilobyte, or
 * that takes two bytes a character, is known only once it is text. Over the budget, no new scan is
 * to begin, and the scan that holds most ends its reading: what it has not asked for by then is its
 * `budget`.
 */
export class TextBudget {
  readonly #maxBytes: number;
  readonly #onChange: (isSaturated: boolean) => void;
  readonly #shares = new Map<TextShare, { bytes: number; endReading: (() => void) | null }>();
  #bytes = 0;
  #isSaturated = false;

  constructor({ maxBytes = MAX_BYTES, onChange = () => undefined }: TextBudgetOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#onChange = onChange;
  }

  get isSaturated(): boolean {
    return this.#isSaturated;
  }

  /** `endReading` is called once at most. */
  open(endReading: () => void): TextShare {
    const share: TextShare = {
      hold: (characters) => this.#add(share, characters * BYTES_PER_CHARACTER),
      release: () => {
        this.#bytes -= this.#shares.get(share)?.bytes ?? 0;
        this.#shares.delete(share);
        this.#tell();
      },
    };
    this.#shares.set(share, { bytes: 0, endReading });
    return share;
  }

  #add(share: TextShare, bytes: number): void {
    const entry = this.#shares.get(share);
    if (entry === undefined) return;
    entry.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#endLargest();
    this.#tell();
  }

  /** Ends the largest scan that still reads; ending one that has read everything would free no memory. */
  #endLargest(): void {
    const reading = [...this.#shares.values()].filter(({ endReading }) => endReading !== null);
    const [largest] = reading.toSorted((a, b) => b.bytes - a.bytes);
    const end = largest?.endReading;
    if (!largest || !end) return;
    largest.endReading = null;
    end();
  }

  #tell(): void {
    const isSaturated = this.#bytes > this.#maxBytes;
    if (isSaturated === this.#isSaturated) return;
    this.#isSaturated = isSaturated;
    this.#onChange(isSaturated);
  }
}
