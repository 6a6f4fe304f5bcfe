/** Answers that are given again while what they were made of is as it was. */

/** What an answer was made of, and how long it says the same by the clock of the store. */
export type Validity = {
  readonly version: string;
  readonly nowMs: number;
};

type Kept<Text> = {
  readonly text: Text;
  readonly version: string;
  readonly fromMs: number;
  readonly untilMs: number;
};

/**
 * The least recently asked for goes first. Bytes leave as they are: a long text with one character
 * beyond Latin-1 is encoded anew for each answer, which costs more than the rest of it.
 */
export class KeptTexts<Text extends string | Buffer = string> {
  readonly #kept = new Map<string, Kept<Text>>();
  readonly #maxTexts: number;

  constructor(maxTexts: number) {
    this.#maxTexts = maxTexts;
  }

  /** Null where it was made of another version, or its time is over. */
  get(name: string, { version, nowMs }: Validity): Text | null {
    const kept = this.#kept.get(name);
    if (kept === undefined) return null;
    this.#kept.delete(name);
    if (kept.version !== version || nowMs < kept.fromMs || nowMs >= kept.untilMs) return null;
    this.#kept.set(name, kept);
    return kept.text;
  }

  /** `version` and `nowMs` are those from before its parts were read. */
  keep(name: string, text: Text, validity: Validity & { readonly untilMs: number }): void {
    const { version, nowMs: fromMs, untilMs } = validity;
    this.#kept.delete(name);
    const oldest = this.#kept.size < this.#maxTexts ? undefined : this.#kept.keys().next().value;
    if (oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(name, { text, version, fromMs, untilMs });
  }
}
