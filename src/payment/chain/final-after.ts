/** A block this much later than `validBefore` proves that an authorization was never used. */
export const FINAL_AFTER_MS = 10 * 60_000;
