/** Answers that are given again while what they were made of is as it was. */

/** What an answer was made of, and how long it says the same by the clock of the store. */
export type Validity = {
  readonly version: string;
  readonly nowMs: number;
};

export type Kept<Text> = {
  readonly text: Text;
  readonly version: string;
  readonly fromMs: number;
  readonly untilMs: number;
};

/**
 * The least recently asked for go first, once all together are too long. Bytes leave as they are: a long text with
 * one character beyond Latin-1 is encoded anew for each answer, which costs more than the rest of it.
 */
export class KeptTexts<Text extends string | Buffer = string> {
  readonly #kept = new Map<string, Kept<Text>>();
  readonly #maxLength: number;
  readonly #onEvicted: (name: string, kept: Kept<Text>) => void;
  #length = 0;

  /**
   * @param maxLength of all texts together, in characters or bytes
   * @param onEvicted hears of those that go for want of room
   */
  constructor(maxLength: number, onEvicted: (name: string, kept: Kept<Text>) => void = () => {}) {
    this.#maxLength = maxLength;
    this.#onEvicted = onEvicted;
  }

  /** Null where it was made of another version, or its time is over. */
  get(name: string, { version, nowMs }: Validity): Text | null {
    const kept = this.#forget(name);
    if (kept === undefined) return null;
    if (kept.version !== version || nowMs < kept.fromMs || nowMs >= kept.untilMs) return null;
    this.#set(name, kept);
    return kept.text;
  }

  /** `version` and `nowMs` are those from before its parts were read. */
  keep(name: string, text: Text, validity: Validity & { readonly untilMs: number }): void {
    const { version, nowMs: fromMs, untilMs } = validity;
    this.#forget(name);
    this.#set(name, { text, version, fromMs, untilMs });
    for (const oldest of this.#kept.keys()) {
      if (this.#length <= this.#maxLength) return;
      const evicted = this.#forget(oldest);
      if (evicted !== undefined) this.#onEvicted(oldest, evicted);
    }
  }

  #set(name: string, kept: Kept<Text>): void {
    this.#kept.set(name, kept);
    this.#length += kept.text.length;
  }

  #forget(name: string): Kept<Text> | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined) return undefined;
    this.#kept.delete(name);
    this.#length -= kept.text.length;
    return kept;
  }
}
