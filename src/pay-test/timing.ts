/** Limits and waits of a pay-test. Our own tests shorten them. */
export const DEFAULT_TIMING = {
  /** Limit for the start of the seller. */
  startMs: 60_000,
  /** A silent facilitator hangs up after this time. */
  silenceMs: 30_000,
  /** Answers that take longer are late. */
  patienceMs: 60_000,
  /** In T8, verify waits this long for all racing requests. */
  raceMs: 500,
  /** Timeout of requests in all trials except T4, T6 and T17. */
  answerMs: 15_000,
};

export type Timing = Readonly<typeof DEFAULT_TIMING>;

/** A client waits a little longer than `patienceMs`, so that it still sees a late answer. */
const TIMEOUT_FACTOR = 1.1;

export function toTimeoutMs({ patienceMs }: Timing): number {
  return Math.round(patienceMs * TIMEOUT_FACTOR);
}
