/** Runs looks, which are free scans or free requests. A look needs a lease, and a turn in the queue of free work. */
import { OriginRefused } from '../../scanner/guard/failures.ts';
import type { Origin } from '../../scanner/guard/origin.ts';
import { Saturated } from '../errors/errors.ts';
import type { FinishedScan, ScanRunOptions } from '../scans/finished-scan.ts';
import type { ScanCoordinator } from '../scans/scan-coordinator.ts';
import type { LeaseScope } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import {
  LimitReached,
  type OriginTurns,
  type TurnClient,
  type TurnRequest,
} from './origin-turns.ts';

/** The host's owner left, or the operator excluded the host, while the look ran. The look's result is dropped. */
export class HostLeft extends Error {
  override readonly name = 'HostLeft';
}

/** Runs `work` under a lease. Throws LimitReached if somebody else holds the lease. */
export async function withLease<Result>(
  { leases }: Pick<Store, 'leases'>,
  scope: LeaseScope,
  lifetimeMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const outcome = await leases.takeSole(scope, lifetimeMs);
  if (!outcome.taken) throw new LimitReached();
  try {
    return await work();
  } finally {
    await leases.release(outcome.lease);
  }
}

/** Resolves to null if a limit forbids the work now. */
export async function unlessLimited<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof LimitReached) return null;
    throw error;
  }
}

type LookFallbacks<Result> = {
  /** The result if the guard refuses the origin. Buyers cannot reach such an origin. */
  readonly whenOriginRefused: () => Result;
  /** The result if the fault is ours. */
  readonly whenFault: Result;
  readonly onFault: (error: unknown) => void;
};

/** Waits for a turn, then runs a look. Throws only LimitReached and HostLeft. */
export async function runLook<Result>(
  turns: Pick<OriginTurns, 'ask'>,
  request: TurnRequest,
  work: (client: TurnClient) => Promise<Result>,
  { whenOriginRefused, whenFault, onFault }: LookFallbacks<Result>,
): Promise<Result> {
  try {
    return await turns.ask(request, work);
  } catch (error) {
    // Saturated: paid scans leave no capacity for free ones.
    if (error instanceof LimitReached || error instanceof Saturated) throw new LimitReached();
    if (error instanceof HostLeft) throw error;
    if (error instanceof OriginRefused) return whenOriginRefused();
    onFault(error);
    return whenFault;
  }
}

/** Scans an origin without a payment. Throws LimitReached, Saturated, OriginRefused and ScannerFailure. */
export async function scanForFree(
  origin: Origin,
  client: Pick<TurnClient, 'admit'>,
  scanCoordinator: Pick<ScanCoordinator, 'run'>,
  options: ScanRunOptions = {},
): Promise<FinishedScan> {
  await client.admit();
  return scanCoordinator.run(origin, { ...options, isFree: true });
}
