/** Tests shorten these waits. */
export type Timing = {
  /** Wait for the seller to listen. */
  readonly startMs: number;
  /** Silence of the facilitator before it hangs up. */
  readonly silenceMs: number;
  /** Answers that take longer are late. */
  readonly patienceMs: number;
  /** Wait of verify for all racing requests of T8. */
  readonly raceMs: number;
  /** Timeout of requests in the other trials. */
  readonly answerMs: number;
};

export const DEFAULT_TIMING: Timing = {
  startMs: 60_000,
  silenceMs: 30_000,
  patienceMs: 60_000,
  raceMs: 500,
  answerMs: 15_000,
};

/** A client waits a little longer than an answer may take, so that a late answer is still seen. */
const LATE_SHARE = 1.1;

export function lateMs({ patienceMs }: Timing): number {
  return Math.round(patienceMs * LATE_SHARE);
}
