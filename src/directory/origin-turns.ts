import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Origin } from '../guard/origin.ts';
import type { Address } from '../guard/resolve.ts';
import { networkOf } from './client-key.ts';

/**
 * The queue of everything that is free and asks origins, in one process. Places are handed out in
 * turn by block of client addresses, scans that were paid for go first, and no server hears from
 * us more than twice a second, whatever names it has.
 */
export type OriginTurns = {
  /** Null where the turn would not come within `withinMs`, and once the queue is stopped. */
  enter(request: TurnRequest): Promise<OriginTurn | null>;
  /** Sends everybody away who waits. */
  stop(): void;
};

export type TurnRequest = {
  readonly origin: Origin;
  /** Blocks may be added while it waits: it has the best place that any of them gives. */
  readonly blocks: ReadonlySet<string>;
  /** From now to the moment at which the origin may be dialled; default without end. */
  readonly withinMs?: number;
};

/** A place, first for the look-up of the name and then, after `toward`, for the request. */
export type OriginTurn = {
  /**
   * Gives the place back until there is one for a request to these addresses. False where that
   * comes too late: nothing may be dialled then.
   */
  toward(addresses: readonly Address[]): Promise<boolean>;
  /** @param handshakeMs processor time that TLS handshakes took; charged to the blocks */
  end(handshakeMs: number): void;
};

/** Whether these addresses may be dialled now. */
export type AdmitAddresses = OriginTurn['toward'];

export type OriginTurnsOptions = {
  readonly now: () => number;
  /** Scans that this process runs at this moment. */
  readonly runningScans: () => number;
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

const AT_ONCE = 8;
/** Beside a scan, what is free opens one connection in this time: it never starves, and hardly delays. */
const BESIDE_SCANS_MS = 1_000;
const PER_TARGET = 2;
const TARGET_WINDOW_MS = 1_000;
/** Beyond so many waiters, those who cannot wait long are sent away at once. */
const MAX_WAITING = 64;
/** How soon a place is noticed that no other request's end frees. */
const TICK_MS = 50;
/** Processor time in TLS handshakes, within an hour, beyond which a block goes behind the others. */
const HANDSHAKE_BUDGET_MS = 1_000;
const HOUR_MS = 3_600_000;
const MAX_BLOCKS = 10_000;
/** Far more than can begin within a second. */
const MAX_TARGETS = 10_000;

type Waiter = {
  readonly blocks: ReadonlySet<string>;
  readonly targets: readonly string[];
  readonly dials: boolean;
  readonly expiresAtMs: number;
  readonly resolve: (hasPlace: boolean) => void;
};
type Block = { readonly lastTurn: number; readonly sinceMs: number; readonly handshakeMs: number };

const NEW_BLOCK: Block = { lastTurn: 0, sinceMs: 0, handshakeMs: 0 };

export function createOriginTurns(options: OriginTurnsOptions): OriginTurns {
  const { now } = options;
  const places = new Places(options);
  return {
    async enter({ origin, blocks, withinMs = Number.POSITIVE_INFINITY }) {
      const expiresAtMs = now() + withinMs;
      const named = [await registrableDomain(origin)];
      let hasPlace = await places.take({ blocks, targets: named, dials: false, expiresAtMs });
      if (!hasPlace) return null;
      return {
        async toward(addresses) {
          places.giveBack(blocks, 0);
          const targets = [...new Set(addresses.map(({ address }) => networkOf(address)))];
          hasPlace = await places.take({ blocks, targets, dials: true, expiresAtMs });
          return hasPlace;
        },
        end(handshakeMs) {
          if (hasPlace) places.giveBack(blocks, handshakeMs);
          hasPlace = false;
        },
      };
    },
    stop: () => places.close(),
  };
}

/** The customers of a host of sites, which publishes its suffix as a private one, are not one. */
async function registrableDomain({ hostname }: Origin): Promise<string> {
  // Loaded with the first request: it brings the list of public suffixes.
  const { getDomain } = await import('tldts');
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

class Places {
  readonly #options: OriginTurnsOptions;
  readonly #blocks = new LRUCache<string, Block>({ max: MAX_BLOCKS });
  /** When the newest requests to a domain or network began. */
  readonly #begun = new LRUCache<string, readonly number[]>({ max: MAX_TARGETS });
  readonly #stopping = new AbortController();
  #waiting: Waiter[] = [];
  #running = 0;
  #turn = 0;
  #lastDialMs = Number.NEGATIVE_INFINITY;
  #isTicking = false;

  constructor(options: OriginTurnsOptions) {
    this.#options = options;
  }

  take(request: Omit<Waiter, 'resolve'>): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const isFull = this.#waiting.length >= MAX_WAITING && Number.isFinite(request.expiresAtMs);
    if (isFull || this.#stopping.signal.aborted) resolve(false);
    else this.#waiting.push({ ...request, resolve });
    this.#beginReady();
    return promise;
  }

  giveBack(blocks: ReadonlySet<string>, handshakeMs: number): void {
    this.#running -= 1;
    for (const block of blocks) this.#charge(block, handshakeMs);
    this.#beginReady();
  }

  close(): void {
    this.#stopping.abort();
    for (const { resolve } of this.#waiting.splice(0)) resolve(false);
  }

  #beginReady(): void {
    const nowMs = this.#options.now();
    const expired = this.#waiting.filter(({ expiresAtMs }) => expiresAtMs < nowMs);
    this.#waiting = this.#waiting.filter((one) => !expired.includes(one));
    for (const { resolve } of expired) resolve(false);
    for (;;) {
      const ready = this.#waiting.filter((one) => this.#mayBegin(one, nowMs));
      if (ready.length === 0) break;
      this.#begin(this.#firstOf(ready), nowMs);
    }
    if (this.#waiting.length > 0 && !this.#isTicking) void this.#tick();
  }

  #begin(next: Waiter, nowMs: number): void {
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#running += 1;
    this.#turn += 1;
    if (next.dials) this.#lastDialMs = nowMs;
    for (const block of next.blocks) this.#remember(block, { lastTurn: this.#turn });
    for (const target of next.targets) {
      const before = this.#begun.get(target) ?? [];
      this.#begun.set(target, [...before, nowMs].slice(-PER_TARGET));
    }
    next.resolve(true);
  }

  #mayBegin({ targets, dials }: Waiter, nowMs: number): boolean {
    const isBesideScans = this.#options.runningScans() > 0;
    if (this.#running >= (isBesideScans ? 1 : AT_ONCE)) return false;
    if (isBesideScans && dials && nowMs < this.#lastDialMs + BESIDE_SCANS_MS) return false;
    return targets.every((target) => {
      const [oldest, ...newer] = this.#begun.get(target) ?? [];
      const isFull = oldest !== undefined && newer.length === PER_TARGET - 1;
      return !isFull || nowMs >= oldest + TARGET_WINDOW_MS;
    });
  }

  /** Costly blocks go after all others; then the block comes first whose turn is longest ago. */
  #firstOf(ready: readonly Waiter[]): Waiter {
    const rank = ({ blocks }: Waiter) => {
      const ranks = [...blocks].map((block) => {
        const one = this.#blocks.get(block) ?? NEW_BLOCK;
        return this.#isCostly(one) ? this.#turn + 1 + one.lastTurn : one.lastTurn;
      });
      return Math.min(...ranks);
    };
    return ready.reduce((best, one) => (rank(one) < rank(best) ? one : best));
  }

  #isCostly({ sinceMs, handshakeMs }: Block): boolean {
    return handshakeMs >= HANDSHAKE_BUDGET_MS && this.#options.now() - sinceMs < HOUR_MS;
  }

  #charge(block: string, handshakeMs: number): void {
    const { sinceMs, handshakeMs: spent } = this.#blocks.get(block) ?? NEW_BLOCK;
    const nowMs = this.#options.now();
    const isOld = nowMs - sinceMs >= HOUR_MS;
    const change = isOld ? { sinceMs: nowMs, handshakeMs } : { handshakeMs: spent + handshakeMs };
    this.#remember(block, change);
  }

  #remember(block: string, change: Partial<Block>): void {
    this.#blocks.set(block, { ...(this.#blocks.get(block) ?? NEW_BLOCK), ...change });
  }

  async #tick(): Promise<void> {
    const { wait = waitOnClock } = this.#options;
    this.#isTicking = true;
    try {
      while (this.#waiting.length > 0) {
        await wait(TICK_MS, this.#stopping.signal);
        this.#beginReady();
      }
    } catch (error) {
      // `close` has sent everybody away.
      if (!this.#stopping.signal.aborted) throw error;
    } finally {
      this.#isTicking = false;
    }
  }
}

async function waitOnClock(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}
