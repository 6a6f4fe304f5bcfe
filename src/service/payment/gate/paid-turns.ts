/** Decides if and when a paid call may begin new work, by limits of open calls and of computations. */

import { setTimeout as pause } from 'node:timers/promises';
import PQueue from 'p-queue';
import { Saturated, TooManyOpen } from '../../errors/errors.ts';
import type { Lease } from '../../store/leases.ts';
import { withDeadline } from './call-end.ts';
import { findDebtTimes, MAX_DEBTS_PER_HOUR } from './debts.ts';
import type { GateDeps, Purchase } from './purchase.ts';

const DAY_MS = 24 * 3_600_000;
/** Settlements raise a payer's limit of open calls. Counting stops here, because no payer has so many open calls. */
const MAX_COUNTED_SETTLEMENTS = 1_000;
/** The lease of a turn outlives every call, and every scan that continues after its caller has disconnected. */
const LEASE_LIFETIME_MS = 5 * 60_000;
/** Interval at which a waiting call tries to take a turn. Calls of other instances end turns too. */
const POLL_INTERVAL_MS = 250;
const MAX_CALLS_PER_PAYER = 100;
const RETRY_AFTER_SEC = 30;
const DEFAULT_MAX_WAITING = 1_000;

/** The right to begin new work. It ends with the work. */
export type PaidTurn = {
  /** True if the call waited. Its payer may have bought the answer meanwhile, so the caller must read the ledger again. */
  readonly hasWaited: boolean;
  /** Ends the turn. */
  readonly release: Release;
};

/** The calls of one payer, which begin in order. */
type PayerLine = {
  /** New calls, each of which tries once to take a turn. */
  readonly entering: PQueue;
  /** Calls that got no turn. Only the first of them tries. */
  readonly waiting: PQueue;
};

type Release = () => void;

export class PaidTurns {
  readonly #deps: GateDeps;
  /** The running computations of each route in this process. */
  readonly #running = new Map<string, CallCounter>();
  /** The line of each payer with open calls. Payers do not wait for each other. */
  readonly #lines = new Map<string, PayerLine>();
  readonly #waiting = new CallCounter();

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  /** Throws Saturated or TooManyOpen if the call may not wait or waits too long; CallEnded if the call ends first. */
  async take(purchase: Purchase, stopping: AbortSignal): Promise<PaidTurn> {
    if (!this.#deps.isRateLimited) return { hasWaited: false, release() {} };
    const { payer, call } = purchase;
    const line = this.#lines.get(payer) ?? createLine();
    if (countCalls(line) >= MAX_CALLS_PER_PAYER) throw new TooManyOpen(RETRY_AFTER_SEC);
    this.#lines.set(payer, line);
    const startMs = performance.now();
    const deadlineMs = Math.min(call.deadlineMs, startMs + this.#deps.timing.turnWithinMs);
    const waitEnd = new AbortController();
    const { signal } = waitEnd;
    const taking = line.entering
      .add(() => this.#enter(purchase, line, signal), { signal })
      .then(({ turn }) => turn);
    try {
      const ends = { stopping, toLateError: () => new TooManyOpen(RETRY_AFTER_SEC) };
      const release = await withDeadline(taking, { ...call, deadlineMs }, ends);
      // A call that need not wait gets its turn within one interval.
      return { hasWaited: performance.now() - startMs > POLL_INTERVAL_MS, release };
    } catch (error) {
      // The line may still grant a turn to this call, which no longer waits.
      taking.then((release) => release()).catch(() => undefined);
      throw error;
    } finally {
      waitEnd.abort();
      Promise.all([line.entering.onIdle(), line.waiting.onIdle()]).then(() => {
        if (countCalls(line) === 0 && this.#lines.get(payer) === line) this.#lines.delete(payer);
      });
    }
  }

  /**
   * Tries to take a turn at once. Only a call that must wait counts as waiting, so a call that gets a turn is never
   * refused because others wait. The turn is in an object, so that `entering` does not wait for it.
   */
  async #enter(
    purchase: Purchase,
    line: PayerLine,
    signal: AbortSignal,
  ): Promise<{ readonly turn: Promise<Release> }> {
    const isNobodyWaiting = line.waiting.size + line.waiting.pending === 0;
    const release = isNobodyWaiting ? await this.#tryTake(purchase) : null;
    endTurnIfAborted(release, signal);
    if (release !== null) return { turn: Promise.resolve(release) };
    const leave = await this.#countWaiting(purchase);
    const turn = line.waiting.add(() => this.#poll(purchase, signal), { signal }).finally(leave);
    // If the call ends first, nobody awaits this promise.
    turn.catch(() => undefined);
    return { turn };
  }

  /** Tries to take a turn until one is free. Rejects when `signal` aborts, because the call no longer waits. */
  async #poll(purchase: Purchase, signal: AbortSignal): Promise<Release> {
    for (;;) {
      const release = await this.#tryTake(purchase);
      endTurnIfAborted(release, signal);
      if (release !== null) return release;
      await pause(POLL_INTERVAL_MS, undefined, { signal, ref: false });
    }
  }

  /** Returns the function that ends the turn; null if a limit is reached. */
  async #tryTake(purchase: Purchase): Promise<Release | null> {
    const { store, onError } = this.#deps;
    const { route, input, payer } = purchase;
    const settledCount = await store.ledger.countSettled({
      payer,
      sinceMs: store.now() - DAY_MS,
      limit: MAX_COUNTED_SETTLEMENTS,
    });
    const { workLimit } = route;
    // A call that shares running or finished work adds no computation, so it is not counted.
    const isShared = workLimit === undefined || (await workLimit.isShared(input, payer));
    const uncount = isShared
      ? () => undefined
      : this.#countComputation(purchase, workLimit.maxRunning, settledCount > 0);
    if (uncount === null) return null;
    const lease = await this.#takeLease(payer, settledCount).catch((error: unknown) => {
      uncount();
      throw error;
    });
    if (lease === null) {
      uncount();
      return null;
    }
    return () => {
      uncount();
      store.leases
        .release(lease)
        .catch((error: unknown) => onError(`a turn of ${payer} ends when it expires`, error));
    };
  }

  async #takeLease(payer: string, settledCount: number): Promise<Lease | null> {
    const { store } = this.#deps;
    const debtTimesMs = await findDebtTimes(store, payer);
    // A payer may always have one open call, because `refuseDebtor` has judged their debts.
    const limit = Math.max(1, MAX_DEBTS_PER_HOUR + settledCount - debtTimesMs.length);
    const outcome = await store.leases.take({
      scope: ['share', `open calls of ${payer}`],
      limit,
      lifetimeMs: LEASE_LIFETIME_MS,
      endsWithOwner: true,
    });
    return outcome.taken ? outcome.lease : null;
  }

  /**
   * Counts a computation until the returned function is called; null if a limit is reached. A payer or client gets at
   * most a quarter of `maxRunning`. The last quarter is for payers who have paid before.
   */
  #countComputation(
    { route, payer, call }: Purchase,
    maxRunning: number,
    hasSettled: boolean,
  ): Release | null {
    const running = this.#running.get(route.name) ?? new CallCounter();
    this.#running.set(route.name, running);
    const quarter = Math.max(1, Math.floor(maxRunning / 4));
    const owners = [`payer ${payer}`, ...(call.client ? [`client ${call.client.key}`] : [])];
    if (running.count('all') >= (hasSettled ? maxRunning : maxRunning - quarter)) return null;
    if (owners.some((owner) => running.count(owner) >= quarter)) return null;
    return running.add(['all', ...owners]);
  }

  /**
   * Counts a waiting call until the returned function is called. Throws Saturated or TooManyOpen if it may not wait. An
   * address block gets at most a quarter of `maxWaiting`; so do all payers together who have never settled.
   */
  async #countWaiting({ payer, call }: Purchase): Promise<Release> {
    const { store, maxWaiting = DEFAULT_MAX_WAITING } = this.#deps;
    const isStranger = (await store.ledger.countSettled({ payer, sinceMs: 0, limit: 1 })) === 0;
    const quarter = Math.max(1, Math.floor(maxWaiting / 4));
    const blocks = call.client ? [`block ${call.client.block}`] : [];
    if (blocks.some((block) => this.#waiting.count(block) >= quarter)) {
      throw new TooManyOpen(RETRY_AFTER_SEC);
    }
    const isStrangerRefused = isStranger && this.#waiting.count('strangers') >= quarter;
    if (isStrangerRefused || this.#waiting.count('all') >= maxWaiting) throw new Saturated();
    return this.#waiting.add(['all', ...(isStranger ? ['strangers'] : []), ...blocks]);
  }
}

/** Throws if the call ended while it tried to take a turn. Call it right before the turn is returned to the queue. */
function endTurnIfAborted(release: Release | null, signal: AbortSignal): void {
  // The queue drops the result of an aborted job, so nobody else would end the turn.
  if (signal.aborted) release?.();
  signal.throwIfAborted();
}

function createLine(): PayerLine {
  return { entering: new PQueue({ concurrency: 1 }), waiting: new PQueue({ concurrency: 1 }) };
}

function countCalls({ entering, waiting }: PayerLine): number {
  return entering.size + entering.pending + waiting.size + waiting.pending;
}

/** Counts calls, each under several names. */
class CallCounter {
  readonly #counts = new Map<string, number>();

  count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Counts a call under each of these names, until the returned function is called. */
  add(names: readonly string[]): Release {
    this.#change(names, 1);
    return () => this.#change(names, -1);
  }

  #change(names: readonly string[], change: 1 | -1): void {
    for (const name of names) {
      const next = this.count(name) + change;
      if (next === 0) this.#counts.delete(name);
      else this.#counts.set(name, next);
    }
  }
}
