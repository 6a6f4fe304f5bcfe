/** Limits the open calls of each payer and client, and queues the calls above the limits. */
import { setTimeout as pause } from 'node:timers/promises';
import PQueue from 'p-queue';
import { Saturated, TooManyOpen } from '../../model/errors.ts';
import type { Slot } from '../../store/slots.ts';
import type { PaidRoute } from '../paid-route.ts';
import { findDebts, MAX_DEBTS_PER_HOUR } from './debts.ts';
import { type GateDeps, type Purchase, TURN_WITHIN_MS } from './purchase.ts';
import { type CallEnd, withDeadline } from './waiting.ts';

const DAY_MS = 24 * 3_600_000;
/** Settlements are counted up to this number, because no payer opens more calls. */
const MAX_SETTLED = 1_000;
/** A share outlives every call, and every scan that continues after its caller has disconnected. */
const SHARE_LIFETIME_MS = 5 * 60_000;
/** Poll interval for shares that other calls, of this instance or another, have released. */
const POLL_INTERVAL_MS = 250;
const MAX_WAITING = 1_000;
const MAX_WAITING_A_PAYER = 100;
const RETRY_AFTER_SEC = 30;

export type ShareTurn =
  /** `hasWaited`: the caller must read the ledger again. */
  | { readonly kind: 'taken'; readonly hasWaited: boolean; release(): void }
  | { readonly kind: 'refused'; readonly error: Error }
  | { readonly kind: CallEnd };

/** Number of running computations of one route in this process. */
type Places = { total: number; readonly byPayer: Tally; readonly byClient: Tally };

export class FairShares {
  readonly #deps: GateDeps;
  readonly #places = new Map<string, Places>();
  /** One line a payer, so that their later calls never overtake earlier ones; payers do not wait for each other. */
  readonly #lines = new Map<string, PQueue>();
  #waiting = 0;

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  /** Waits in order of arrival until this purchase may begin. */
  async take(purchase: Purchase, stopping: AbortSignal): Promise<ShareTurn> {
    if (!this.#deps.isRateLimited) return { kind: 'taken', hasWaited: false, release() {} };
    if (this.#waiting >= MAX_WAITING) return { kind: 'refused', error: new Saturated() };
    const { payer, call } = purchase;
    const line = this.#lines.get(payer) ?? new PQueue({ concurrency: 1 });
    if (line.size + line.pending >= MAX_WAITING_A_PAYER) {
      return { kind: 'refused', error: new TooManyOpen(RETRY_AFTER_SEC) };
    }
    this.#lines.set(payer, line);
    this.#waiting += 1;
    const beganMs = performance.now();
    const { turnWithinMs = TURN_WITHIN_MS } = this.#deps;
    const deadlineMs = Math.min(call.deadlineMs, beganMs + turnWithinMs);
    const over = new AbortController();
    const { signal } = over;
    const taking = line.add(() => this.#poll(purchase, signal), { signal });
    try {
      const waited = await withDeadline(taking, { ...call, deadlineMs }, stopping);
      if (waited.kind === 'done') {
        const hasWaited = performance.now() - beganMs > POLL_INTERVAL_MS;
        return { kind: 'taken', hasWaited, release: waited.value };
      }
      // A share that is granted at this moment is released at once.
      taking.then((release) => release()).catch(() => undefined);
      if (waited.kind !== 'late') return waited;
      return { kind: 'refused', error: new TooManyOpen(RETRY_AFTER_SEC) };
    } finally {
      over.abort();
      this.#waiting -= 1;
      line.onIdle().then(() => this.#forget(payer, line));
    }
  }

  /** Looks for room until there is some, or until nobody waits for it any more. */
  async #poll(purchase: Purchase, over: AbortSignal): Promise<() => void> {
    while (!over.aborted) {
      const release = await this.#tryTake(purchase);
      if (release !== null && !over.aborted) return release;
      // The line has moved on: it does not wait for a look that is under way.
      release?.();
      await pause(POLL_INTERVAL_MS, undefined, { signal: over, ref: false }).catch(() => undefined);
    }
    return () => undefined;
  }

  #forget(payer: string, line: PQueue): void {
    const isIdle = line.size + line.pending === 0;
    if (isIdle && this.#lines.get(payer) === line) this.#lines.delete(payer);
  }

  /** Returns the function that releases the share; null if there is no room. */
  async #tryTake(purchase: Purchase): Promise<(() => void) | null> {
    const { store, onError } = this.#deps;
    const { route, input, payer, call } = purchase;
    const settled = await store.ledger.countSettled({
      payer,
      sinceMs: store.now() - DAY_MS,
      limit: MAX_SETTLED,
    });
    const { workLimit } = route;
    const isShared = workLimit === undefined || (await workLimit.isShared(input, payer));
    const places = isShared ? null : this.#placesOf(route);
    if (places !== null && !hasRoom(places, workLimit?.maxRunning ?? 0, purchase, settled > 0)) {
      return null;
    }
    // Synchronous with the check, because other calls check for room at every await.
    if (places !== null) occupy(places, payer, call.client, 1);
    const vacate = () => {
      if (places !== null) occupy(places, payer, call.client, -1);
    };
    const share = await this.#share(payer, settled).catch((error: unknown) => {
      vacate();
      throw error;
    });
    if (share === null) {
      vacate();
      return null;
    }
    return () => {
      vacate();
      const released = store.slots.release(share);
      released.catch((error: unknown) =>
        onError(`a share of ${payer} ends when it expires`, error),
      );
    };
  }

  async #share(payer: string, settled: number): Promise<Slot | null> {
    const { store } = this.#deps;
    const debts = await findDebts(store, payer);
    // A payer with nothing open may always open one call: only `refuseDebtor` judges debts.
    const limit = Math.max(1, MAX_DEBTS_PER_HOUR + settled - debts.length);
    const outcome = await store.slots.take({
      scope: ['share', `open calls of ${payer}`],
      limit,
      lifetimeMs: SHARE_LIFETIME_MS,
      endsWithOwner: true,
    });
    return outcome.taken ? outcome.slot : null;
  }

  #placesOf(route: PaidRoute): Places {
    const known = this.#places.get(route.name);
    if (known !== undefined) return known;
    const places: Places = { total: 0, byPayer: new Map(), byClient: new Map() };
    this.#places.set(route.name, places);
    return places;
  }
}

type Tally = Map<string, number>;

/** A payer or client gets at most a quarter; the last quarter is for payers who have paid before. */
function hasRoom(
  { total, byPayer, byClient }: Places,
  all: number,
  { payer, call }: Purchase,
  hasSettled: boolean,
): boolean {
  const quarter = Math.max(1, Math.floor(all / 4));
  if (total >= (hasSettled ? all : all - quarter)) return false;
  if ((byPayer.get(payer) ?? 0) >= quarter) return false;
  return call.client === null || (byClient.get(call.client) ?? 0) < quarter;
}

function occupy(places: Places, payer: string, client: string | null, by: 1 | -1): void {
  places.total += by;
  add(places.byPayer, payer, by);
  if (client !== null) add(places.byClient, client, by);
}

function add(tally: Tally, name: string, by: 1 | -1): void {
  const next = (tally.get(name) ?? 0) + by;
  if (next === 0) tally.delete(name);
  else tally.set(name, next);
}
