/** All times of a watch, ms. */
export type WatchTiming = {
  readonly dayMs: number;
  readonly hourMs: number;
  /** A fact that got worse is confirmed by a second look after this long. */
  readonly confirmAfterMs: number;
  readonly agreeWithinMs: number;
  /** An agreed watch may be replaced once in this time. */
  readonly changeAgainAfterMs: number;
  readonly lifetimeMs: number;
  /** An event announces the end of a watch this long before it. */
  readonly tellEndMs: number;
  /** Waits before the second try of a delivery and those after it. */
  readonly retryAfterMs: readonly number[];
  readonly longestRetryAfterMs: number;
  /** A watch ends when no try has succeeded for this long. */
  readonly giveUpAfterMs: number;
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** @param scale below 1 only in tests, to shorten every wait */
export function toWatchTiming(scale = 1): WatchTiming {
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1_200, 1_440];
  return {
    dayMs: DAY_MS,
    hourMs: HOUR_MS * scale,
    confirmAfterMs: 10 * MINUTE_MS * scale,
    agreeWithinMs: DAY_MS * scale,
    changeAgainAfterMs: 10 * MINUTE_MS * scale,
    lifetimeMs: 30 * DAY_MS,
    tellEndMs: 3 * DAY_MS,
    retryAfterMs: minutes.map((count) => count * MINUTE_MS * scale),
    longestRetryAfterMs: DAY_MS,
    giveUpAfterMs: 5 * DAY_MS * scale,
  };
}
