/** Finality, apart from the reader of the chain, which is slow to load. */

/** A block so much later than `validBefore` is proof of what did not happen. */
export const FINAL_AFTER_MS = 10 * 60_000;
