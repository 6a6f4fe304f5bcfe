/** A deadline that several dependent requests share. */

export type Deadline = {
  /** The full limit, for messages. */
  readonly timeoutMs: number;
  /** Aborts when time is up. */
  readonly signal: AbortSignal;
  leftMs(): number;
};

/** A scan waits at most this long for third parties. */
export const LOOKUP_TIMEOUT_MS = 3_000;

export function startDeadline(timeoutMs: number): Deadline {
  const end = performance.now() + timeoutMs;
  return {
    timeoutMs,
    signal: AbortSignal.timeout(timeoutMs),
    leftMs: () => Math.max(0, end - performance.now()),
  };
}
