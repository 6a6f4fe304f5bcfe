/** Waits for scans: for those of another instance, and for the end of those that are aborted. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Origin } from '../../scanner/guard/origin.ts';
import type { Lease, LeaseScope } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import { type FinishedScan, fromStoredReport } from './finished-scan.ts';

/** A scan ends within 70 s, and storing it takes a little longer. */
export const LEASE_LIFETIME_MS = 90_000;
/** Marks the lease of a separate scan. No other caller gets its result. */
export const SEPARATE = 'apart';
const POLL_INTERVAL_MS = 200;

type WaitingScan = {
  readonly origin: Origin;
  /** The needs of the callers. They may grow while the scan waits. */
  readonly needs: { readonly withRecording: boolean; readonly isFree: boolean };
  readonly signal: AbortSignal;
};

/**
 * Waits until the holder of `lease` has stored a result or has ended. Asks a separate scan to end, if a caller pays.
 * Resolves to null if there is no result that the callers can use. Rejects with the reason of the aborted signal.
 */
export async function awaitOtherInstance(
  { leases, results }: Pick<Store, 'leases' | 'results'>,
  lease: Lease,
  scan: WaitingScan,
): Promise<FinishedScan | null> {
  const { host } = scan.origin;
  const isSeparate = lease.data === SEPARATE;
  const isWanted = isSeparate && !scan.needs.isFree;
  const mark = isWanted ? await leases.takeSole(toWantedScope(host), LEASE_LIFETIME_MS) : null;
  try {
    for (;;) {
      // The lease is read before the result, because a scan stores its result before it releases its lease.
      const isRunning = await leases.isHeld(lease);
      const finished = isSeparate ? null : await findResult(results, lease.takenAtMs, scan);
      if (finished !== null || !isRunning) return finished;
      await pause(POLL_INTERVAL_MS);
      // An aborted pause would reject with an error of its own, not with the signal's reason.
      scan.signal.throwIfAborted();
    }
  } finally {
    if (mark?.taken) await leases.release(mark.lease);
  }
}

async function findResult(
  results: Store['results'],
  sinceMs: number,
  { origin: { host, url }, needs }: WaitingScan,
): Promise<FinishedScan | null> {
  // A payer of the other instance may have published the result between two polls.
  const result =
    (await results.findUnpublished(host, sinceMs)) ?? (await results.findPublished(host));
  if (result === null || result.scannedAtMs < sinceMs) return null;
  const finished = fromStoredReport(result);
  const hasNeededRecording =
    !needs.withRecording || (await results.findRecording(finished.scanId)) !== null;
  return finished.report.origin === url && hasNeededRecording ? finished : null;
}

/** The lease of this scope is taken while a payer waits for the end of a separate scan. */
export function toWantedScope(host: string): LeaseScope {
  return ['scan-wanted', host];
}

/** Time in which an aborted scan should end. Its last lookups in indexes may take some seconds. */
const MAX_ABORTING_MS = 3_000;

/**
 * Waits for a scan. Rejects with the signal's reason if the scan goes on for some seconds after its abort, because its
 * callers and the service wait for its end.
 */
export async function awaitOrAbandon<Outcome>(
  signal: AbortSignal,
  scanning: Promise<Outcome>,
): Promise<Outcome> {
  const timeUp = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => timeUp.reject(signal.reason), MAX_ABORTING_MS);
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([scanning, timeUp.promise]);
  } finally {
    clearTimeout(timer);
    // Node keeps a combined signal alive while it has a listener.
    signal.removeEventListener('abort', onAbort);
  }
}
