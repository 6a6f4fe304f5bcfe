/** The small rate at which look-ups of settlements may use the node that payments stand on. */
import { setTimeout as delay } from 'node:timers/promises';

export type LookupRateOptions = {
  /** True while payments need the node. */
  readonly mustYield: () => boolean;
  readonly perSecond?: number | undefined;
  /** So many at once after a rest: one look-up of a busy address. */
  readonly burst?: number | undefined;
  /** Monotonic, ms. */
  readonly now?: (() => number) | undefined;
};

/** Resolves when one call may be made; rejects when the signal says that it is too late for it. */
export type LookupTurn = (signal: AbortSignal) => Promise<void>;

const CALLS_A_SECOND = 10;
const BURST = 30;
const POLL_INTERVAL_MS = 20;

export function createLookupRate({
  mustYield,
  perSecond = CALLS_A_SECOND,
  burst = BURST,
  now = () => performance.now(),
}: LookupRateOptions): LookupTurn {
  let left = burst;
  let countedMs = now();

  function take(): boolean {
    const nowMs = now();
    left = Math.min(burst, left + ((nowMs - countedMs) / 1_000) * perSecond);
    countedMs = nowMs;
    if (mustYield() || left < 1) return false;
    left -= 1;
    return true;
  }

  return async (signal) => {
    while (!take()) await delay(POLL_INTERVAL_MS, undefined, { signal });
  };
}
