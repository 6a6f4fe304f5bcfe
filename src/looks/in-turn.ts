/** A look is a free scan or free requests. It needs a lease, a turn in the queue of free work, and a time of day. */
import { hash } from 'node:crypto';
import { Saturated } from '../errors/errors.ts';
import { OriginRefused } from '../guard/errors.ts';
import type { Origin } from '../guard/origin.ts';
import type { Resolution } from '../guard/resolve.ts';
import type {
  AdmitAddresses,
  OriginTurn,
  OriginTurns,
  TurnRequest,
} from '../limits/origin-turns.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import type { ScanCoordinator } from '../scan/scan-coordinator.ts';
import type { ScanRunOptions } from '../scan/scan-options.ts';
import type { SlotScope } from '../store/slots.ts';
import type { Store } from '../store/store.ts';

/** A limit forbids the work now. The caller tries it again soon. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/** The host's owner left, or the operator excluded the host, while the look ran. Its result is dropped. */
export class HostLeft extends Error {
  override readonly name = 'HostLeft';
}

/** Runs `work` under a lease. Throws LimitReached if somebody else holds the lease. */
export async function withLease<Result>(
  { slots }: Pick<Store, 'slots'>,
  scope: SlotScope,
  lifetimeMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const lease = await slots.lease(scope, lifetimeMs);
  if (!lease.taken) throw new LimitReached();
  try {
    return await work();
  } finally {
    await slots.release(lease.slot);
  }
}

/** The result of a turn, and the processor time of its TLS handshakes. */
export type TurnResult<Result> = { readonly result: Result; readonly handshakeMs: number };

/** Waits for a turn, then runs `work`. Throws LimitReached if the wait would be too long. */
export async function withTurn<Result>(
  turns: Pick<OriginTurns, 'enter'>,
  request: TurnRequest,
  work: (turn: OriginTurn) => Promise<TurnResult<Result>>,
): Promise<Result> {
  const turn = await turns.enter(request);
  if (turn === null) throw new LimitReached();
  let handshakeMs = 0;
  try {
    const finished = await work(turn);
    handshakeMs = finished.handshakeMs;
    return finished.result;
  } finally {
    turn.end(handshakeMs);
  }
}

export type LookFallbacks<Result> = {
  /** The result if the guard refuses the origin. Buyers cannot reach such an origin. */
  readonly whenOriginRefused: () => Result;
  /** The result if the fault is ours. */
  readonly whenFault: Result;
  readonly onFault: (error: unknown) => void;
};

/** Waits for a turn, then runs a look. Throws only LimitReached and HostLeft. */
export async function runLook<Result>(
  turns: Pick<OriginTurns, 'enter'>,
  request: TurnRequest,
  work: (turn: OriginTurn) => Promise<TurnResult<Result>>,
  { whenOriginRefused, whenFault, onFault }: LookFallbacks<Result>,
): Promise<Result> {
  try {
    return await withTurn(turns, request, work);
  } catch (error) {
    // Saturated: paid scans leave no capacity for free ones.
    if (error instanceof LimitReached || error instanceof Saturated) throw new LimitReached();
    if (error instanceof HostLeft) throw error;
    if (error instanceof OriginRefused) return whenOriginRefused();
    onFault(error);
    return whenFault;
  }
}

export type ResolveOrigin = (origin: Origin) => Promise<Resolution>;

export type FreeScanOptions = {
  readonly scanCoordinator: Pick<ScanCoordinator, 'run'>;
  /** Resolves the origin's name before a scan, so that `admit` can limit its network. */
  readonly resolve: ResolveOrigin;
  /** Returns false if a limit forbids a connection to these addresses now. */
  readonly admit: AdmitAddresses;
};

/** Scans an origin without a payment. Throws LimitReached, Saturated, OriginRefused and ScannerFailure. */
export async function scanForFree(
  origin: Origin,
  { scanCoordinator, resolve, admit }: FreeScanOptions,
  options: ScanRunOptions = {},
): Promise<FinishedScan> {
  const resolved = await resolve(origin);
  if (resolved.kind === 'addresses' && !(await admit(resolved.addresses))) throw new LimitReached();
  return scanCoordinator.run(origin, { ...options, isFree: true });
}

export const SECONDS_PER_DAY = 86_400;

/** Returns 0 to 86,399, computed from a hash of the name, so that daily work spreads over the UTC day. */
export function secondOfDay(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 12), 16) % SECONDS_PER_DAY;
}
