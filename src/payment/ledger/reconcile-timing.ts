export type ReconcileTiming = {
  /** Interval of look-ups while a caller waits. */
  readonly lookIntervalMs: number;
  /**
   * Instants of the further sends, counted from the first send; the last is made at three quarters of the
   * validity, and no later than the last of these. The first is also the shortest pause between two
   * sends of one process.
   */
  readonly resendAfterMs: readonly number[];
  /** Intervals of look-ups in the background: they double from the first to the second. */
  readonly firstBackoffMs: number;
  readonly lastBackoffMs: number;
};

export const TIMING: ReconcileTiming = {
  lookIntervalMs: 1_000,
  resendAfterMs: [5_000, 30_000, 2 * 60_000, 15 * 60_000],
  firstBackoffMs: 1_000,
  lastBackoffMs: 3_600_000,
};

/** Random share of a backoff, so that keys of one moment are not looked up together. */
const JITTER = 0.25;
/**
 * Wait until the next look in the background, ms: its backoff, and no longer than until the payment is
 * to be sent again, or the chain has proof. `random`: 0 to 1.
 */
export function nextLookMs({
  backoffMs,
  firstBackoffMs,
  untilDueMs,
  random,
}: {
  readonly backoffMs: number;
  readonly firstBackoffMs: number;
  /** Above 0; `Infinity` where nothing is due. */
  readonly untilDueMs: number;
  readonly random: number;
}): number {
  const jitter = JITTER * random;
  return Math.min(backoffMs * (1 + jitter), untilDueMs + firstBackoffMs * jitter);
}
