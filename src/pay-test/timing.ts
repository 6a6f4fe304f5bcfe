/** Waits of a run; the project's own tests shorten them. */
export type Timing = {
  /** Until the seller listens, or is there at all. */
  readonly startMs: number;
  /** The facilitator's silence before it hangs up. */
  readonly silenceMs: number;
  /** From then on an answer is late. */
  readonly patienceMs: number;
  /** Verify waits for the racers of one payment this long, so that they race. */
  readonly raceMs: number;
  /** Until an answer of the ordinary trials is given up. */
  readonly answerMs: number;
};

export const DEFAULT_TIMING: Timing = {
  startMs: 60_000,
  silenceMs: 30_000,
  patienceMs: 60_000,
  raceMs: 500,
  answerMs: 15_000,
};
