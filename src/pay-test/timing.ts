/** Tests shorten these waits. */
export const DEFAULT_TIMING = {
  /** Wait for the seller to listen. */
  startMs: 60_000,
  /** Silence of the facilitator before it hangs up. */
  silenceMs: 30_000,
  /** Answers that take longer are late. */
  patienceMs: 60_000,
  /** Wait of verify for all racing requests of T8. */
  raceMs: 500,
  /** Timeout of requests in the other trials. */
  answerMs: 15_000,
};

export type Timing = Readonly<typeof DEFAULT_TIMING>;

/** A client waits a little longer than an answer may take, so that a late answer is still seen. */
const LATE_SHARE = 1.1;

export function lateMs({ patienceMs }: Timing): number {
  return Math.round(patienceMs * LATE_SHARE);
}
