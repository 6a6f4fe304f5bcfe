import PQueue from 'p-queue';

export type LookupRateOptions = {
  /** Calls per `intervalMs`; one lookup of a busy address uses all of them. */
  readonly calls?: number | undefined;
  readonly intervalMs?: number | undefined;
};

/** Resolves when a call may be made; rejects when the signal aborts first. */
export type LookupTurn = (signal: AbortSignal) => Promise<void>;

const CALLS = 30;
const INTERVAL_MS = 3_000;

export function createLookupRate({
  calls = CALLS,
  intervalMs = INTERVAL_MS,
}: LookupRateOptions = {}): LookupTurn {
  const queue = new PQueue({
    concurrency: 1,
    intervalCap: calls,
    interval: intervalMs,
    strict: true,
  });
  return (signal) => queue.add(async () => {}, { signal });
}
