import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';

export type LookupRateOptions = {
  /** Returns true while payments need the node. */
  readonly mustYield: () => boolean;
  /** Calls per `intervalMs`; one lookup of a busy address uses all of them. */
  readonly calls?: number | undefined;
  readonly intervalMs?: number | undefined;
};

/** Resolves when a call may be made; rejects when the signal aborts first. */
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
