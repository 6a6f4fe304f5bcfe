import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Origin } from '../guard/origin.ts';
import type { Address } from '../guard/resolve.ts';
import { toNetwork } from './client-key.ts';

/**
 * Queue of a process for all free work that sends requests to origins and receivers. Each kind of work has places of
 * its own. Blocks of client addresses take turns, paid scans go first, and a server gets at most two requests a second
 * under all its names.
 */
export type OriginTurns = {
  /** Null if the wait would exceed `withinMs`, and once the queue is stopped. */
  enter(request: TurnRequest): Promise<OriginTurn | null>;
  /** Resolves all waiters with null. */
  stop(): void;
};

/** `call` is a confirm or a preflight. `census` goes after all others. */
export type TurnKind = keyof typeof LIMITS;

export type TurnRequest = {
  /** Default: `call`. */
  readonly kind?: TurnKind;
  readonly origin: Origin;
  /** Blocks may be added while the request waits; the one with the best place counts. */
  readonly blocks: ReadonlySet<string>;
  /**
   * Registrable domain of a watched host. It takes turns and is charged like a block, because the owner of one domain
   * may call from many blocks; the worse place of both counts.
   */
  readonly domain?: string | undefined;
  /** True for work that goes before all other work of its kind. */
  readonly isUrgent?: boolean;
  /** Longest wait until the origin may be connected to, ms; unlimited by default. */
  readonly withinMs?: number;
};

/** A slot for the name lookup and, after `toward`, for the request. */
export type OriginTurn = {
  /**
   * Waits for a slot of one request to these addresses; each further request waits for one of its own.
   * False if the wait would be too long; the caller must not connect then.
   */
  toward(addresses: readonly Address[]): Promise<boolean>;
  /** @param handshakeMs processor time of TLS handshakes; charged to the blocks */
  end(handshakeMs: number): void;
};

/** Resolves to true if these addresses may be connected to. */
export type AdmitAddresses = OriginTurn['toward'];

export type OriginTurnsOptions = {
  readonly now: () => number;
  /** Number of scans that this process runs now. */
  readonly runningScans: () => number;
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

/** Places of each kind, and those beside a paid scan; above `waiting`, waiters with a deadline are refused at once. */
const LIMITS = {
  call: { atOnce: 8, besideScans: 1, waiting: 64 },
  look: { atOnce: 16, besideScans: 4, waiting: 256 },
  webhook: { atOnce: 64, besideScans: 8, waiting: 256 },
  census: { atOnce: 4, besideScans: 1, waiting: 64 },
} as const;
/**
 * While scans run, the interval of connections for calls, and for those who are over their handshake budget: callers
 * can wait it out, and scans are hardly slowed down.
 */
const BESIDE_SCANS_MS = 1_000;
const PER_TARGET = 2;
const TARGET_WINDOW_MS = 1_000;
/** Shortest deadline for the slot of a further request: one window, and as long again in the queue. */
const FURTHER_WITHIN_MS = 2 * TARGET_WINDOW_MS;
/** Poll interval for slots that only time frees. */
const TICK_MS = 50;
/** Processor time of TLS handshakes in an hour, above which a block goes after the others. */
const HANDSHAKE_BUDGET_MS = 1_000;
const HOUR_MS = 3_600_000;
const MAX_BLOCKS = 10_000;
/** Bounds the memory; at most a few dozen targets begin within a second. */
const MAX_TARGETS = 10_000;

type Claim = {
  readonly kind: TurnKind;
  readonly blocks: ReadonlySet<string>;
  readonly domain: string | null;
};
type Waiter = Claim & {
  readonly isUrgent: boolean;
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
    async enter({ kind = 'call', origin, blocks, domain = null, isUrgent = false, ...request }) {
      const { withinMs = Number.POSITIVE_INFINITY } = request;
      const claim = { kind, blocks, domain };
      let expiresAtMs = now() + withinMs;
      const named = [await registrableDomain(origin)];
      // The domain was counted on the way in; further requests count on it too.
      let counted: readonly string[] = [];
      const first = { ...claim, isUrgent, targets: named, dials: false, expiresAtMs };
      let hasPlace = await places.take(first);
      if (!hasPlace) return null;
      return {
        async toward(addresses) {
          if (hasPlace) places.giveBack(claim, 0);
          const networks = addresses.map(({ address }) => toNetwork(address));
          const targets = [...new Set([...counted, ...networks])];
          hasPlace = await places.take({ ...first, targets, dials: true, expiresAtMs });
          counted = named;
          expiresAtMs = now() + Math.max(withinMs, FURTHER_WITHIN_MS);
          return hasPlace;
        },
        end(handshakeMs) {
          if (hasPlace) places.giveBack(claim, handshakeMs);
          hasPlace = false;
        },
      };
    },
    stop: () => places.close(),
  };
}

/** Private suffixes count too, so that customers of a hosting provider are separate domains. */
export async function registrableDomain({ hostname }: Pick<Origin, 'hostname'>): Promise<string> {
  // Loaded with the first request: the module holds the list of public suffixes.
  const { getDomain } = await import('tldts');
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

class Places {
  readonly #options: OriginTurnsOptions;
  readonly #blocks = new LRUCache<string, Block>({ max: MAX_BLOCKS });
  /** Start times of the newest requests, by domain and network. */
  readonly #begun = new LRUCache<string, readonly number[]>({ max: MAX_TARGETS });
  readonly #stopping = new AbortController();
  readonly #running: Record<TurnKind, number> = { call: 0, look: 0, webhook: 0, census: 0 };
  #waiting: Waiter[] = [];
  #turn = 0;
  #lastDialMs = Number.NEGATIVE_INFINITY;
  #isTicking = false;

  constructor(options: OriginTurnsOptions) {
    this.#options = options;
  }

  take(request: Omit<Waiter, 'resolve'>): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const alike = this.#waiting.filter(({ kind }) => kind === request.kind);
    const isCrowded = alike.length >= LIMITS[request.kind].waiting;
    const isFull = isCrowded && Number.isFinite(request.expiresAtMs);
    if (isFull || this.#stopping.signal.aborted) resolve(false);
    else this.#waiting.push({ ...request, resolve });
    this.#beginReady();
    return promise;
  }

  giveBack({ kind, blocks, domain }: Claim, handshakeMs: number): void {
    this.#running[kind] -= 1;
    for (const name of namesOf(blocks, domain)) this.#charge(name, handshakeMs);
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
    this.#running[next.kind] += 1;
    this.#turn += 1;
    if (next.dials && this.#isSpaced(next)) this.#lastDialMs = nowMs;
    for (const name of namesOf(next.blocks, next.domain)) {
      this.#remember(name, { lastTurn: this.#turn });
    }
    for (const target of next.targets) {
      const before = this.#begun.get(target) ?? [];
      this.#begun.set(target, [...before, nowMs].slice(-PER_TARGET));
    }
    next.resolve(true);
  }

  #mayBegin(waiter: Waiter, nowMs: number): boolean {
    const { kind, targets, dials } = waiter;
    const isBesideScans = this.#options.runningScans() > 0;
    const { atOnce, besideScans } = LIMITS[kind];
    if (this.#running[kind] >= (isBesideScans ? besideScans : atOnce)) return false;
    const isTooSoon = nowMs < this.#lastDialMs + BESIDE_SCANS_MS;
    if (isBesideScans && dials && isTooSoon && this.#isSpaced(waiter)) return false;
    return targets.every((target) => {
      const [oldest, ...newer] = this.#begun.get(target) ?? [];
      const isFull = oldest !== undefined && newer.length === PER_TARGET - 1;
      return !isFull || nowMs >= oldest + TARGET_WINDOW_MS;
    });
  }

  #isSpaced(waiter: Waiter): boolean {
    return waiter.kind === 'call' || this.#placeOf(waiter) > this.#turn;
  }

  #firstOf(ready: readonly Waiter[]): Waiter {
    const rank = (one: Waiter) => {
      const place = this.#placeOf(one);
      return one.isUrgent && place <= this.#turn ? place - this.#turn - 1 : place;
    };
    const others = ready.filter(({ kind }) => kind !== 'census');
    const first = others.length > 0 ? others : ready;
    return first.reduce((best, one) => (rank(one) < rank(best) ? one : best));
  }

  /**
   * Who was served longest ago has the lowest place, and goes first. Those over their handshake budget go last: their
   * places are greater than the number of the last turn.
   */
  #placeOf({ blocks, domain }: Claim): number {
    const places = [...blocks].map((block) => this.#placeOfName(block));
    const best = Math.min(...places);
    return domain === null ? best : Math.max(best, this.#placeOfName(nameOfDomain(domain)));
  }

  #placeOfName(name: string): number {
    const one = this.#blocks.get(name) ?? NEW_BLOCK;
    return this.#isCostly(one) ? this.#turn + 1 + one.lastTurn : one.lastTurn;
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
      // `stop` has resolved all waiters.
      if (!this.#stopping.signal.aborted) throw error;
    } finally {
      this.#isTicking = false;
    }
  }
}

/** The names under which turns and handshakes are counted. */
function namesOf(blocks: ReadonlySet<string>, domain: string | null): readonly string[] {
  return domain === null ? [...blocks] : [...blocks, nameOfDomain(domain)];
}

function nameOfDomain(domain: string): string {
  return `domain ${domain}`;
}

async function waitOnClock(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}
