/** Limits the open calls of each payer and client, and queues the calls above the limits. */

import { setTimeout as pause } from 'node:timers/promises';
import PQueue from 'p-queue';
import { Saturated, TooManyOpen } from '../../errors/errors.ts';
import type { Lease } from '../../store/leases.ts';
import type { PaidRoute } from '../paid-route.ts';
import { findDebtTimes, MAX_DEBTS_PER_HOUR } from './authorization.ts';
import { type GateDeps, type Purchase, withDeadline } from './purchase.ts';

const DAY_MS = 24 * 3_600_000;
/** Settlements raise a payer's limit of open calls. Counting stops here, because no payer has so many open calls. */
const MAX_COUNTED_SETTLEMENTS = 1_000;
/** A share outlives every call, and every scan that continues after its caller has disconnected. */
const SHARE_LIFETIME_MS = 5 * 60_000;
/** Interval at which a waiting call looks for released shares. Other instances release shares too. */
const POLL_INTERVAL_MS = 250;
const MAX_CALLS_PER_PAYER = 100;
const RETRY_AFTER_SEC = 30;

export type Share = {
  /** If true, the caller must read the ledger again. */
  readonly hasWaited: boolean;
  readonly release: Release;
};

/** Numbers of running computations of one route in this process. */
type RunningCounts = { total: number; readonly byPayer: Tally; readonly byClient: Tally };

/** The calls of one payer, which begin in order. */
type PayerLine = {
  /** New calls, each of which tries once to take a share. */
  readonly entering: PQueue;
  /** Calls that found no share. Only the first of them tries. */
  readonly waiting: PQueue;
};

type Release = () => void;

export class FairShares {
  readonly #deps: GateDeps;
  readonly #running = new Map<string, RunningCounts>();
  /** Payers do not wait for each other. */
  readonly #lines = new Map<string, PayerLine>();
  readonly #places: WaitingPlaces;

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#places = new WaitingPlaces(deps.maxWaiting);
  }

  /**
   * Takes a share for this purchase, or waits for one. Throws Saturated or TooManyOpen if the call may not wait, or has
   * waited too long, and CallEnded.
   */
  async take(purchase: Purchase, stopping: AbortSignal): Promise<Share> {
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
      .then(({ share }) => share);
    try {
      const ends = { stopping, toLateError: () => new TooManyOpen(RETRY_AFTER_SEC) };
      const release = await withDeadline(taking, { ...call, deadlineMs }, ends);
      return { hasWaited: performance.now() - startMs > POLL_INTERVAL_MS, release };
    } catch (error) {
      // The line may still grant a share to this call, which no longer waits.
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
   * Tries to take a share at once. Only a call that must wait needs a place to wait, so a call that finds a share is
   * never refused because others wait. Returns the share in an object, because the next call must not wait for it.
   */
  async #enter(
    purchase: Purchase,
    line: PayerLine,
    signal: AbortSignal,
  ): Promise<{ readonly share: Promise<Release> }> {
    const { payer, call } = purchase;
    const release = isIdle(line.waiting) ? await this.#tryTake(purchase) : null;
    if (release !== null) {
      if (!signal.aborted) return { share: Promise.resolve(release) };
      // The call ended during this attempt, so nobody else would release the share.
      release();
      return { share: Promise.resolve(() => undefined) };
    }
    const { ledger } = this.#deps.store;
    const hasSettled = (await ledger.countSettled({ payer, sinceMs: 0, limit: 1 })) > 0;
    const leave = this.#places.take({ block: call.client?.block ?? null, hasSettled });
    const share = line.waiting.add(() => this.#poll(purchase, signal), { signal }).finally(leave);
    // If the call ends first, nobody awaits this promise.
    share.catch(() => undefined);
    return { share };
  }

  /** Tries to take a share until a share is free, or until `signal` aborts because the call no longer waits. */
  async #poll(purchase: Purchase, signal: AbortSignal): Promise<Release> {
    while (!signal.aborted) {
      const release = await this.#tryTake(purchase);
      if (release !== null && !signal.aborted) return release;
      // If the wait ended during this attempt, nobody else would release the share.
      release?.();
      await pause(POLL_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return () => undefined;
  }

  /** Returns the function that releases the share; null if a limit is reached. */
  async #tryTake(purchase: Purchase): Promise<Release | null> {
    const { store, onError } = this.#deps;
    const { route, input, payer, call } = purchase;
    const settledCount = await store.ledger.countSettled({
      payer,
      sinceMs: store.now() - DAY_MS,
      limit: MAX_COUNTED_SETTLEMENTS,
    });
    const { workLimit } = route;
    // A call that shares running or finished work adds no computation, so it is not counted.
    const isShared = workLimit === undefined || (await workLimit.isShared(input, payer));
    const counts = isShared ? null : this.#findCounts(route);
    if (
      counts !== null &&
      !hasRoom(counts, workLimit?.maxRunning ?? 0, purchase, settledCount > 0)
    ) {
      return null;
    }
    // No `await` may come between the check and this line, or another call could take the same room.
    if (counts !== null) addToCounts(counts, payer, call.client?.key ?? null, 1);
    const undoCounts = () => {
      if (counts !== null) addToCounts(counts, payer, call.client?.key ?? null, -1);
    };
    const share = await this.#takeShare(payer, settledCount).catch((error: unknown) => {
      undoCounts();
      throw error;
    });
    if (share === null) {
      undoCounts();
      return null;
    }
    return () => {
      undoCounts();
      store.leases
        .release(share)
        .catch((error: unknown) => onError(`a share of ${payer} ends when it expires`, error));
    };
  }

  async #takeShare(payer: string, settledCount: number): Promise<Lease | null> {
    const { store } = this.#deps;
    const debtTimesMs = await findDebtTimes(store, payer);
    // A payer may always have one open call, because `refuseDebtor` has judged their debts.
    const limit = Math.max(1, MAX_DEBTS_PER_HOUR + settledCount - debtTimesMs.length);
    const outcome = await store.leases.take({
      scope: ['share', `open calls of ${payer}`],
      limit,
      lifetimeMs: SHARE_LIFETIME_MS,
      endsWithOwner: true,
    });
    return outcome.taken ? outcome.lease : null;
  }

  #findCounts(route: PaidRoute): RunningCounts {
    const empty = { total: 0, byPayer: new Map(), byClient: new Map() };
    const counts: RunningCounts = this.#running.get(route.name) ?? empty;
    this.#running.set(route.name, counts);
    return counts;
  }
}

function createLine(): PayerLine {
  return { entering: new PQueue({ concurrency: 1 }), waiting: new PQueue({ concurrency: 1 }) };
}

function isIdle(queue: PQueue): boolean {
  return queue.size + queue.pending === 0;
}

function countCalls({ entering, waiting }: PayerLine): number {
  return entering.size + entering.pending + waiting.size + waiting.pending;
}

type Tally = Map<string, number>;

/** A payer or client gets at most a quarter of `maxRunning`. The last quarter is for payers who have paid before. */
function hasRoom(
  { total, byPayer, byClient }: RunningCounts,
  maxRunning: number,
  { payer, call }: Purchase,
  hasSettled: boolean,
): boolean {
  const quarter = Math.max(1, Math.floor(maxRunning / 4));
  if (total >= (hasSettled ? maxRunning : maxRunning - quarter)) return false;
  if ((byPayer.get(payer) ?? 0) >= quarter) return false;
  return call.client === null || (byClient.get(call.client.key) ?? 0) < quarter;
}

function addToCounts(
  counts: RunningCounts,
  payer: string,
  client: string | null,
  change: 1 | -1,
): void {
  counts.total += change;
  addToTally(counts.byPayer, payer, change);
  if (client !== null) addToTally(counts.byClient, client, change);
}

function addToTally(tally: Tally, name: string, change: 1 | -1): void {
  const next = (tally.get(name) ?? 0) + change;
  if (next === 0) tally.delete(name);
  else tally.set(name, next);
}

const MAX_WAITING = 1_000;

/** The facts by which a waiting call counts against limits. */
type Waiter = {
  /** Address block of the client (/24, IPv6 /48); null if it is unknown. */
  readonly block: string | null;
  /** True if the payer has settled a payment here. */
  readonly hasSettled: boolean;
};

class WaitingPlaces {
  readonly #maxWaiting: number;
  readonly #byBlock: Tally = new Map();
  #total = 0;
  #neverSettled = 0;

  constructor(maxWaiting = MAX_WAITING) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Takes a place and returns the function that frees it. A block, and all payers together who have never settled,
   * get at most a quarter of the places. Throws Saturated or TooManyOpen if there is no place.
   */
  take(waiter: Waiter): Release {
    const quarter = Math.max(1, Math.floor(this.#maxWaiting / 4));
    const { block, hasSettled } = waiter;
    if (block !== null && (this.#byBlock.get(block) ?? 0) >= quarter) {
      throw new TooManyOpen(RETRY_AFTER_SEC);
    }
    const isStrangerRefused = !hasSettled && this.#neverSettled >= quarter;
    if (isStrangerRefused || this.#total >= this.#maxWaiting) throw new Saturated();
    this.#add(waiter, 1);
    return () => this.#add(waiter, -1);
  }

  #add({ block, hasSettled }: Waiter, change: 1 | -1): void {
    this.#total += change;
    if (!hasSettled) this.#neverSettled += change;
    if (block !== null) addToTally(this.#byBlock, block, change);
  }
}
