/** Decides which free work goes next. Blocks of client addresses take turns, and paid scans go before all free work. */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/** `call` is a confirm or a preflight. `census` waits until no other kind can begin. */
export type TurnKind = keyof typeof LIMITS;

export type TurnQueueOptions = {
  readonly now: () => number;
  readonly countPaidScans: () => number;
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

/** Limits of each kind: running turns, turns that run beside paid scans, and waiting turns with a deadline. */
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
export const TARGET_WINDOW_MS = 1_000;
/** The queue is checked this often, because some turns only wait for time to pass. */
const POLL_INTERVAL_MS = 50;
/** A block or domain whose TLS handshakes take more processor time in an hour goes after the others. */
const HANDSHAKE_BUDGET_MS = 1_000;
const HOUR_MS = 3_600_000;
const MAX_ACCOUNTS = 10_000;
const MAX_TARGETS = 10_000;

/** The kind of work, and the accounts that are charged for it. */
export type Claim = {
  readonly kind: TurnKind;
  readonly isUrgent: boolean;
  readonly blocks: ReadonlySet<string>;
  readonly domain: string | null;
};

/** The next step that a turn allows: a name lookup, or one request. */
type Step = {
  /** The domain and the networks whose request limits apply. */
  readonly targets: readonly string[];
  /** True if a connection is opened. False for the name lookup. */
  readonly connects: boolean;
  readonly expiresAtMs: number;
};

type Waiter = Step & { readonly claim: Claim; readonly resolve: (mayBegin: boolean) => void };

/** The use of the queue by one block or domain. */
type Account = {
  readonly lastTurnNumber: number;
  /** Start of the hour in which `handshakeMs` is counted. */
  readonly startMs: number;
  readonly handshakeMs: number;
};

/** Lower ranks go first. */
type Rank = { readonly isCostly: boolean; readonly lastTurnNumber: number };

const NEW_ACCOUNT: Account = { lastTurnNumber: 0, startMs: 0, handshakeMs: 0 };

export class TurnQueue {
  readonly #options: TurnQueueOptions;
  readonly #accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });
  /** Start times of the newest requests to each domain and network. */
  readonly #recentStarts = new LRUCache<string, readonly number[]>({ max: MAX_TARGETS });
  readonly #stopping = new AbortController();
  readonly #running: Record<TurnKind, number> = { call: 0, look: 0, webhook: 0, census: 0 };
  #waiting: Waiter[] = [];
  #turnNumber = 0;
  #lastConnectMs = Number.NEGATIVE_INFINITY;
  #isPolling = false;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  now(): number {
    return this.#options.now();
  }

  /** Resolves all waiters with false. */
  stop(): void {
    this.#stopping.abort();
    for (const { resolve } of this.#waiting.splice(0)) resolve(false);
  }

  /** Resolves to false if the wait is too long, or the queue is stopped. */
  take(claim: Claim, step: Step): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const sameKind = this.#waiting.filter((waiter) => waiter.claim.kind === claim.kind);
    const isCrowded = sameKind.length >= LIMITS[claim.kind].maxWaiting;
    // A waiter without a deadline is never refused.
    const isRefused = isCrowded && Number.isFinite(step.expiresAtMs);
    if (isRefused || this.#stopping.signal.aborted) resolve(false);
    else this.#waiting.push({ claim, ...step, resolve });
    this.#beginReadyTurns();
    return promise;
  }

  release({ kind }: Claim): void {
    this.#running[kind] -= 1;
    this.#beginReadyTurns();
  }

  /** @param handshakeMs processor time of TLS handshakes, which is charged to the blocks and the domain */
  charge(claim: Claim, handshakeMs: number): void {
    const nowMs = this.now();
    for (const name of toAccountNames(claim)) {
      const { startMs, handshakeMs: usedMs } = this.#accounts.get(name) ?? NEW_ACCOUNT;
      const isOld = nowMs - startMs >= HOUR_MS;
      this.#remember(
        name,
        isOld ? { startMs: nowMs, handshakeMs } : { handshakeMs: usedMs + handshakeMs },
      );
    }
  }

  #beginReadyTurns(): void {
    const nowMs = this.now();
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
    this.#running[next.claim.kind] += 1;
    this.#turnNumber += 1;
    if (next.connects && this.#needsInterval(next.claim)) this.#lastConnectMs = nowMs;
    for (const name of toAccountNames(next.claim)) {
      this.#remember(name, { lastTurnNumber: this.#turnNumber });
    }
    for (const target of next.targets) {
      const before = this.#recentStarts.get(target) ?? [];
      this.#recentStarts.set(target, [...before, nowMs].slice(-MAX_REQUESTS_PER_WINDOW));
    }
    next.resolve(true);
  }

  #mayBegin({ claim, targets, connects }: Waiter, nowMs: number): boolean {
    const isBesideScans = this.#options.countPaidScans() > 0;
    const { maxRunning, maxBesideScans } = LIMITS[claim.kind];
    if (this.#running[claim.kind] >= (isBesideScans ? maxBesideScans : maxRunning)) return false;
    const isTooSoon = nowMs < this.#lastConnectMs + CONNECT_INTERVAL_MS;
    if (isBesideScans && connects && isTooSoon && this.#needsInterval(claim)) return false;
    return targets.every((target) => {
      const starts = this.#recentStarts.get(target) ?? [];
      const [oldest = nowMs] = starts;
      return starts.length < MAX_REQUESTS_PER_WINDOW || nowMs >= oldest + TARGET_WINDOW_MS;
    });
  }

  #needsInterval(claim: Claim): boolean {
    return claim.kind === 'call' || this.#rankOf(claim).isCostly;
  }

  #chooseNext(ready: readonly Waiter[]): Waiter {
    const others = ready.filter(({ claim }) => claim.kind !== 'census');
    const candidates = others.length > 0 ? others : ready;
    return candidates.reduce((best, next) => (this.#goesBefore(next, best) ? next : best));
  }

  #goesBefore({ claim: one }: Waiter, { claim: other }: Waiter): boolean {
    const [a, b] = [this.#rankOf(one), this.#rankOf(other)];
    if (a.isCostly === b.isCostly && one.isUrgent !== other.isUrgent) return one.isUrgent;
    return compareRanks(a, b) < 0;
  }

  #rankOf({ blocks, domain }: Claim): Rank {
    const ranks = [...blocks].map((block) => this.#rankAccount(block));
    const best = ranks.reduce((one, other) => (compareRanks(other, one) < 0 ? other : one));
    if (domain === null) return best;
    const domainRank = this.#rankAccount(toDomainName(domain));
    return compareRanks(domainRank, best) > 0 ? domainRank : best;
  }

  #rankAccount(name: string): Rank {
    const { startMs, handshakeMs, lastTurnNumber } = this.#accounts.get(name) ?? NEW_ACCOUNT;
    const isCostly = handshakeMs >= HANDSHAKE_BUDGET_MS && this.now() - startMs < HOUR_MS;
    return { isCostly, lastTurnNumber };
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
        this.#beginReadyTurns();
      }
    } catch (error) {
      // `stop` has resolved all waiters.
      if (!this.#stopping.signal.aborted) throw error;
    } finally {
      this.#isPolling = false;
    }
  }
}

/** Blocks and domains over their handshake budget go last. Among the others, the least recent turn goes first. */
function compareRanks(a: Rank, b: Rank): number {
  return Number(a.isCostly) - Number(b.isCostly) || a.lastTurnNumber - b.lastTurnNumber;
}

function toAccountNames({ blocks, domain }: Claim): readonly string[] {
  return domain === null ? [...blocks] : [...blocks, toDomainName(domain)];
}

function toDomainName(domain: string): string {
  return `domain ${domain}`;
}
