/** When the chain has said its last word; apart from what asks it, which is slow to load. */

/** A block so much later than `validBefore` is proof of what did not happen. */
export const FINAL_AFTER_MS = 10 * 60_000;
