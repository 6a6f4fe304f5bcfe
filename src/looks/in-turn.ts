/** Every look needs a lease, a turn among all that is free, and a second of the day. */
import { hash } from 'node:crypto';
import { OriginRefused } from '../guard/errors.ts';
import type { Origin } from '../guard/origin.ts';
import type { Resolution } from '../guard/resolve.ts';
import type {
  AdmitAddresses,
  OriginTurn,
  OriginTurns,
  TurnRequest,
} from '../limits/origin-turns.ts';
import { Saturated } from '../model/errors.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import type { ScanRunOptions } from '../scan/in-flight-scans.ts';
import type { ScanCoordinator } from '../scan/scan-coordinator.ts';
import type { SlotScope } from '../store/slots.ts';
import type { Store } from '../store/store.ts';

/** A limit leaves no room for the work now; the caller tries it again soon. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

/** Runs `work` under a lease. Throws NoPlace when another instance holds it. */
export async function underLease<Result>(
  { slots }: Pick<Store, 'slots'>,
  scope: SlotScope,
  lifetimeMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const lease = await slots.lease(scope, lifetimeMs);
  if (!lease.taken) throw new NoPlace();
  try {
    return await work();
  } finally {
    await slots.release(lease.slot);
  }
}

/** The result of a turn, and the processor time of its TLS handshakes. */
export type TurnResult<Result> = { readonly result: Result; readonly handshakeMs: number };

/** Runs work that asks an origin once it is its turn. Throws NoPlace if that takes too long. */
export async function inTurn<Result>(
  turns: Pick<OriginTurns, 'enter'>,
  request: TurnRequest,
  work: (turn: OriginTurn) => Promise<TurnResult<Result>>,
): Promise<Result> {
  const turn = await turns.enter(request);
  if (turn === null) throw new NoPlace();
  let handshakeMs = 0;
  try {
    const done = await work(turn);
    handshakeMs = done.handshakeMs;
    return done.result;
  } finally {
    turn.end(handshakeMs);
  }
}

export type LookEnds<Result> = {
  /** The result if the guard refuses the origin: no buyer reaches it either. */
  readonly refused: () => Result;
  /** The result of a fault of ours. */
  readonly fault: Result;
  readonly onFault: (error: unknown) => void;
};

/** Runs a look once it is its turn. Throws only NoPlace. */
export async function lookInTurn<Result>(
  turns: Pick<OriginTurns, 'enter'>,
  request: TurnRequest,
  work: (turn: OriginTurn) => Promise<TurnResult<Result>>,
  { refused, fault, onFault }: LookEnds<Result>,
): Promise<Result> {
  try {
    return await inTurn(turns, request, work);
  } catch (error) {
    // Paid scans hold the places of free ones.
    if (error instanceof NoPlace || error instanceof Saturated) throw new NoPlace();
    if (error instanceof OriginRefused) return refused();
    onFault(error);
    return fault;
  }
}

export type ResolveOrigin = (origin: Origin) => Promise<Resolution>;

export type FreeScanOptions = {
  readonly scanCoordinator: Pick<ScanCoordinator, 'run'>;
  /** Resolves a name before a scan, which counts against its network. */
  readonly resolve: ResolveOrigin;
  /** Admits the addresses of the origin; false if they must not be connected to now. */
  readonly admit: AdmitAddresses;
};

/** Scans an origin that nobody pays for. Throws NoPlace, Saturated, OriginRefused and ScannerFailure. */
export async function scanForFree(
  origin: Origin,
  { scanCoordinator, resolve, admit }: FreeScanOptions,
  options: ScanRunOptions = {},
): Promise<FinishedScan> {
  const resolved = await resolve(origin);
  if (resolved.kind === 'addresses' && !(await admit(resolved.addresses))) throw new NoPlace();
  return scanCoordinator.run(origin, { ...options, isFree: true });
}

const SECONDS_A_DAY = 86_400;

/** 0 to 86,399, by a hash of the name, so that daily work spreads over the UTC day. */
export function secondOfDay(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 12), 16) % SECONDS_A_DAY;
}
