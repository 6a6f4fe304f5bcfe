/** The small rate at which look-ups of settlements may use the node that payments stand on. */
import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';

export type LookupRateOptions = {
  /** True while payments need the node. */
  readonly mustYield: () => boolean;
  /** Calls in any `intervalMs`; one look-up of a busy address makes as many. */
  readonly calls?: number | undefined;
  readonly intervalMs?: number | undefined;
};

/** Resolves when one call may be made; rejects when the signal says that it is too late for it. */
export type LookupTurn = (signal: AbortSignal) => Promise<void>;

const CALLS = 30;
const INTERVAL_MS = 3_000;
const POLL_INTERVAL_MS = 20;

export function createLookupRate({
  mustYield,
  calls = CALLS,
  intervalMs = INTERVAL_MS,
}: LookupRateOptions): LookupTurn {
  const queue = new PQueue({
    concurrency: 1,
    intervalCap: calls,
    interval: intervalMs,
    strict: true,
  });
  return (signal) =>
    queue.add(
      async () => {
        while (mustYield()) await delay(POLL_INTERVAL_MS, undefined, { signal });
      },
      { signal },
    );
}
