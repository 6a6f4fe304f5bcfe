import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Address } from '../guard/name-servers.ts';
import type { Origin } from '../guard/origin.ts';
import { toNetwork } from './client-key.ts';

/**
 * A queue for all free work of this process that sends requests to origins or receivers. Each kind of work has its own
 * number of slots, which is smaller while paid scans run. Blocks of client addresses take turns. A server gets at most
 * two requests a second, even if it has several names.
 */
export type OriginTurns = {
  /** Waits for a slot. Resolves to null if the wait exceeds `withinMs`, or the queue is stopped. */
  enter(request: TurnRequest): Promise<OriginTurn | null>;
  /** Resolves all waiters with null. */
  stop(): void;
};

/** `call` is a confirm or a preflight. `census` waits until no other kind can begin. */
export type TurnKind = keyof typeof LIMITS;

export type TurnRequest = {
  /** Default: `call`. */
  readonly kind?: TurnKind;
  readonly origin: Origin;
  /** Hashes of client address blocks. More may be added during the wait. The best rank of all blocks counts. */
  readonly blocks: ReadonlySet<string>;
  /**
   * Registrable domain of a watched host. It has a rank and is charged like a block, because the owner of a domain may
   * call from many blocks. If it ranks worse than the blocks, its rank counts.
   */
  readonly domain?: string | undefined;
  /** True for work that goes before all other work of its kind. */
  readonly isUrgent?: boolean;
  /** Longest wait until the origin may be connected to, ms; unlimited by default. */
  readonly withinMs?: number;
};

/** A slot for the name lookup and, after `admit`, for the request. */
export type OriginTurn = {
  /**
   * Waits until one request may be sent to these addresses. Call it again before each further request. If it resolves
   * to false, the wait was too long and the caller must not connect.
   */
  admit(addresses: readonly Address[]): Promise<boolean>;
  /** @param handshakeMs processor time of TLS handshakes, which is charged to the blocks and the domain */
  end(handshakeMs: number): void;
};

/** Resolves to true if these addresses may be connected to. */
export type AdmitAddresses = OriginTurn['admit'];

export type OriginTurnsOptions = {
  readonly now: () => number;
  /** Number of scans that this process runs now. */
  readonly runningScans: () => number;
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

/** Limits of each kind: running requests, requests that run beside paid scans, and waiting requests with a deadline. */
const LIMITS = {
  call: { maxRunning: 8, maxBesideScans: 1, maxWaiting: 64 },
  look: { maxRunning: 16, maxBesideScans: 4, maxWaiting: 256 },
  webhook: { maxRunning: 64, maxBesideScans: 8, maxWaiting: 256 },
  census: { maxRunning: 4, maxBesideScans: 1, maxWaiting: 64 },
} as const;
/**
 * Shortest time between two connections while scans run. It applies to calls, and to waiters over their handshake
 * budget. Callers can wait this long, and connections at this rate hardly slow down scans.
 */
const CONNECT_INTERVAL_MS = 1_000;
const MAX_REQUESTS_PER_WINDOW = 2;
const TARGET_WINDOW_MS = 1_000;
/** A further request may always wait this long: one window for its target, and one more in the queue. */
const MIN_FURTHER_WAIT_MS = 2 * TARGET_WINDOW_MS;
/** The queue is checked this often, because some requests only wait for time to pass. */
const POLL_INTERVAL_MS = 50;
/** A block or domain whose TLS handshakes take more processor time in an hour goes after the others. */
const HANDSHAKE_BUDGET_MS = 1_000;
const HOUR_MS = 3_600_000;
const MAX_ACCOUNTS = 10_000;
const MAX_TARGETS = 10_000;

type TurnClaim = {
  readonly kind: TurnKind;
  readonly blocks: ReadonlySet<string>;
  readonly domain: string | null;
};
type Waiter = TurnClaim & {
  readonly isUrgent: boolean;
  /** The domain and the networks whose request limits apply. */
  readonly targets: readonly string[];
  /** True for a request after `admit`, which opens a connection. */
  readonly connects: boolean;
  readonly expiresAtMs: number;
  readonly resolve: (hasSlot: boolean) => void;
};
/** The use of the queue by one block or domain. */
type Account = {
  readonly lastTurnNumber: number;
  /** Start of the hour in which `handshakeMs` is counted. */
  readonly startMs: number;
  readonly handshakeMs: number;
};

const NEW_ACCOUNT: Account = { lastTurnNumber: 0, startMs: 0, handshakeMs: 0 };

export function createOriginTurns(options: OriginTurnsOptions): OriginTurns {
  const { now } = options;
  const slots = new SlotQueue(options);
  return {
    async enter({ kind = 'call', origin, blocks, domain = null, isUrgent = false, ...request }) {
      const { withinMs = Number.POSITIVE_INFINITY } = request;
      const claim = { kind, blocks, domain };
      let expiresAtMs = now() + withinMs;
      const domains = [await registrableDomain(origin)];
      // `enter` counts the first request against the domain's limit. `admit` must count each further request.
      let countedDomains: readonly string[] = [];
      const firstRequest = { ...claim, isUrgent, targets: domains, connects: false, expiresAtMs };
      let hasSlot = await slots.takeSlot(firstRequest);
      if (!hasSlot) return null;
      return {
        async admit(addresses) {
          if (hasSlot) slots.releaseSlot(claim, 0);
          const networks = addresses.map(({ address }) => toNetwork(address));
          const targets = [...new Set([...countedDomains, ...networks])];
          hasSlot = await slots.takeSlot({ ...firstRequest, targets, connects: true, expiresAtMs });
          countedDomains = domains;
          expiresAtMs = now() + Math.max(withinMs, MIN_FURTHER_WAIT_MS);
          return hasSlot;
        },
        end(handshakeMs) {
          if (hasSlot) slots.releaseSlot(claim, handshakeMs);
          hasSlot = false;
        },
      };
    },
    stop: () => slots.close(),
  };
}

/** Private suffixes count as public suffixes, so that each customer of a hosting provider has a domain. */
export async function registrableDomain({ hostname }: Pick<Origin, 'hostname'>): Promise<string> {
  // This module holds the list of public suffixes, so it is loaded with the first request.
  const { getDomain } = await import('tldts');
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

class SlotQueue {
  readonly #options: OriginTurnsOptions;
  readonly #accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });
  /** Start times of the newest requests to each domain and network. */
  readonly #recentStarts = new LRUCache<string, readonly number[]>({ max: MAX_TARGETS });
  readonly #stopping = new AbortController();
  readonly #running: Record<TurnKind, number> = { call: 0, look: 0, webhook: 0, census: 0 };
  #waiting: Waiter[] = [];
  #turnNumber = 0;
  #lastConnectMs = Number.NEGATIVE_INFINITY;
  #isPolling = false;

  constructor(options: OriginTurnsOptions) {
    this.#options = options;
  }

  takeSlot(request: Omit<Waiter, 'resolve'>): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const sameKind = this.#waiting.filter(({ kind }) => kind === request.kind);
    const isCrowded = sameKind.length >= LIMITS[request.kind].maxWaiting;
    const isRefused = isCrowded && Number.isFinite(request.expiresAtMs);
    if (isRefused || this.#stopping.signal.aborted) resolve(false);
    else this.#waiting.push({ ...request, resolve });
    this.#beginReady();
    return promise;
  }

  releaseSlot({ kind, blocks, domain }: TurnClaim, handshakeMs: number): void {
    this.#running[kind] -= 1;
    for (const name of toAccountNames(blocks, domain)) this.#charge(name, handshakeMs);
    this.#beginReady();
  }

  close(): void {
    this.#stopping.abort();
    for (const { resolve } of this.#waiting.splice(0)) resolve(false);
  }

  #beginReady(): void {
    const nowMs = this.#options.now();
    const expired = this.#waiting.filter(({ expiresAtMs }) => expiresAtMs < nowMs);
    this.#waiting = this.#waiting.filter((waiter) => !expired.includes(waiter));
    for (const { resolve } of expired) resolve(false);
    for (;;) {
      const ready = this.#waiting.filter((waiter) => this.#mayBegin(waiter, nowMs));
      if (ready.length === 0) break;
      this.#begin(this.#chooseNext(ready), nowMs);
    }
    if (this.#waiting.length > 0 && !this.#isPolling) void this.#poll();
  }

  #begin(next: Waiter, nowMs: number): void {
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#running[next.kind] += 1;
    this.#turnNumber += 1;
    if (next.connects && this.#needsInterval(next)) this.#lastConnectMs = nowMs;
    for (const name of toAccountNames(next.blocks, next.domain)) {
      this.#remember(name, { lastTurnNumber: this.#turnNumber });
    }
    for (const target of next.targets) {
      const before = this.#recentStarts.get(target) ?? [];
      this.#recentStarts.set(target, [...before, nowMs].slice(-MAX_REQUESTS_PER_WINDOW));
    }
    next.resolve(true);
  }

  #mayBegin(waiter: Waiter, nowMs: number): boolean {
    const { kind, targets, connects } = waiter;
    const isBesideScans = this.#options.runningScans() > 0;
    const { maxRunning, maxBesideScans } = LIMITS[kind];
    if (this.#running[kind] >= (isBesideScans ? maxBesideScans : maxRunning)) return false;
    const isTooSoon = nowMs < this.#lastConnectMs + CONNECT_INTERVAL_MS;
    if (isBesideScans && connects && isTooSoon && this.#needsInterval(waiter)) return false;
    return targets.every((target) => {
      const [oldest, ...newer] = this.#recentStarts.get(target) ?? [];
      const isFull = oldest !== undefined && newer.length === MAX_REQUESTS_PER_WINDOW - 1;
      return !isFull || nowMs >= oldest + TARGET_WINDOW_MS;
    });
  }

  #needsInterval(waiter: Waiter): boolean {
    return waiter.kind === 'call' || this.#rankOf(waiter) > this.#turnNumber;
  }

  #chooseNext(ready: readonly Waiter[]): Waiter {
    const orderOf = (waiter: Waiter) => {
      const rank = this.#rankOf(waiter);
      // Urgent work gets a negative rank, unless it is over its handshake budget.
      return waiter.isUrgent && rank <= this.#turnNumber ? rank - this.#turnNumber - 1 : rank;
    };
    const others = ready.filter(({ kind }) => kind !== 'census');
    const candidates = others.length > 0 ? others : ready;
    return candidates.reduce((best, next) => (orderOf(next) < orderOf(best) ? next : best));
  }

  /**
   * Returns the rank of a waiter; the lowest rank goes first. It is the number of the block's last turn. Blocks over
   * their handshake budget go last, because their ranks are greater than the number of the newest turn.
   */
  #rankOf({ blocks, domain }: TurnClaim): number {
    const ranks = [...blocks].map((block) => this.#rankAccount(block));
    const best = Math.min(...ranks);
    return domain === null ? best : Math.max(best, this.#rankAccount(toDomainName(domain)));
  }

  #rankAccount(name: string): number {
    const { startMs, handshakeMs, lastTurnNumber } = this.#accounts.get(name) ?? NEW_ACCOUNT;
    const isCostly = handshakeMs >= HANDSHAKE_BUDGET_MS && this.#options.now() - startMs < HOUR_MS;
    return isCostly ? this.#turnNumber + 1 + lastTurnNumber : lastTurnNumber;
  }

  #charge(name: string, handshakeMs: number): void {
    const { startMs, handshakeMs: usedMs } = this.#accounts.get(name) ?? NEW_ACCOUNT;
    const nowMs = this.#options.now();
    const isOld = nowMs - startMs >= HOUR_MS;
    const change = isOld ? { startMs: nowMs, handshakeMs } : { handshakeMs: usedMs + handshakeMs };
    this.#remember(name, change);
  }

  #remember(name: string, change: Partial<Account>): void {
    this.#accounts.set(name, { ...(this.#accounts.get(name) ?? NEW_ACCOUNT), ...change });
  }

  async #poll(): Promise<void> {
    const { wait = (ms, signal) => delay(ms, undefined, { signal }) } = this.#options;
    this.#isPolling = true;
    try {
      while (this.#waiting.length > 0) {
        await wait(POLL_INTERVAL_MS, this.#stopping.signal);
        this.#beginReady();
      }
    } catch (error) {
      // `stop` has resolved all waiters.
      if (!this.#stopping.signal.aborted) throw error;
    } finally {
      this.#isPolling = false;
    }
  }
}

function toAccountNames(blocks: ReadonlySet<string>, domain: string | null): readonly string[] {
  return domain === null ? [...blocks] : [...blocks, toDomainName(domain)];
}

function toDomainName(domain: string): string {
  return `domain ${domain}`;
}
