import { OurFault } from '../../scanner/guard/failures.ts';
import type { Limits } from '../../scanner/guard/limits.ts';
import type { Address } from '../../scanner/guard/name-servers.ts';
import type { Origin } from '../../scanner/guard/origin.ts';
import type { ProbeClient } from '../../scanner/probe/client/client.ts';
import { toNetwork } from './client-key.ts';
import {
  type Claim,
  TARGET_WINDOW_MS,
  type TurnKind,
  TurnQueue,
  type TurnQueueOptions,
} from './turn-queue.ts';

/**
 * The only way to send free requests to origins or receivers. All free work of this process waits in one queue. Each kind
 * of work has its own number of turns, which is smaller while paid scans run. A server gets at most two requests a second,
 * even if it has several names.
 */
export type OriginTurns = {
  /**
   * Waits for a turn, and runs `work` with a client. Charges the time of the client's TLS handshakes, even if `work`
   * throws. Throws NoTurn if the wait is too long, or the turns are stopped.
   */
  ask<Result>(request: TurnRequest, work: (client: TurnClient) => Promise<Result>): Promise<Result>;
  /** Refuses all waiters. */
  stop(): void;
};

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
  /** Called before each connection that the queue allows. A throw prevents the connection. */
  readonly beforeConnect?: (addresses: readonly Address[]) => Promise<void>;
};

/** A guarded client that waits before each request until its turn allows the request. */
export type TurnClient = Pick<ProbeClient, 'request' | 'resolveOrigin'> & {
  /**
   * Waits until one request to the origin may be sent, for a caller who sends it by another client. Does nothing if the
   * origin has no public address. Throws NoTurn, and OurFault if the resolver does not work.
   */
  admit(): Promise<void>;
};

/** A limit forbids the work now. The caller tries it again soon. */
export class LimitReached extends Error {
  override readonly name: string = 'LimitReached';
}

/** The wait in the queue of free work was too long. */
export class NoTurn extends LimitReached {
  override readonly name = 'NoTurn';
}

type OriginTurnsOptions = TurnQueueOptions & { readonly openClient: OpenTurnClient };

export type OpenTurnClient = (kind: TurnKind, limits: Partial<Limits>) => Promise<ProbeClient>;

/** Strangers cause these requests for nothing, so each name is asked once. */
const STRANGER_LIMITS = { maxDnsTries: 1 };
const CLIENT_LIMITS: Readonly<Record<TurnKind, Partial<Limits>>> = {
  call: STRANGER_LIMITS,
  webhook: STRANGER_LIMITS,
  look: {},
  // The client follows one redirect, and never repeats a request.
  census: { maxRedirects: 1, maxRetryAfterMs: -1 },
};
/** A further request may always wait this long: one window for its target, and one more in the queue. */
const MIN_FURTHER_WAIT_MS = 2 * TARGET_WINDOW_MS;

export function createOriginTurns({ openClient, ...options }: OriginTurnsOptions): OriginTurns {
  const queue = new TurnQueue(options);
  return {
    async ask(request, work) {
      const { kind = 'call' } = request;
      const turn = await enterTurn(queue, request);
      if (turn === null) throw new NoTurn();
      let client: ProbeClient | null = null;
      try {
        client = await openClient(kind, CLIENT_LIMITS[kind]);
        return await work(createTurnClient(client, turn, request));
      } finally {
        turn.end(client?.stats().handshakeMs ?? 0);
        client?.close();
      }
    },
    stop: () => queue.stop(),
  };
}

function createTurnClient(
  client: ProbeClient,
  turn: Turn,
  { origin, beforeConnect }: TurnRequest,
): TurnClient {
  async function admitTo(askedOrigin: Origin): Promise<void> {
    const resolved = await client.resolveOrigin(askedOrigin);
    if (resolved.kind === 'our-fault') throw new OurFault(resolved.detail);
    if (resolved.kind !== 'addresses') return;
    if (!(await turn.moveOn(resolved.addresses))) throw new NoTurn();
    await beforeConnect?.(resolved.addresses);
  }
  return {
    admit: () => admitTo(origin),
    resolveOrigin: (askedOrigin) => client.resolveOrigin(askedOrigin),
    async request(request) {
      await admitTo(request.origin);
      return client.request(request);
    },
  };
}

/** Waits for a turn. Resolves to null if the wait is too long, or the queue is stopped. */
export async function enterTurn(queue: TurnQueue, request: TurnRequest): Promise<Turn | null> {
  const { kind = 'call', isUrgent = false, blocks, domain = null } = request;
  const { withinMs = Number.POSITIVE_INFINITY } = request;
  const expiresAtMs = queue.now() + withinMs;
  const claim = { kind, isUrgent, blocks, domain };
  const target = await findRegistrableDomain(request.origin);
  const lookupStep = { targets: [target], connects: false, expiresAtMs };
  if (!(await queue.take(claim, lookupStep))) return null;
  return new Turn(queue, claim, { target, withinMs, expiresAtMs });
}

type TurnOptions = {
  /** The origin's registrable domain. */
  readonly target: string;
  readonly withinMs: number;
  readonly expiresAtMs: number;
};

/** A turn allows a name lookup and, after each `moveOn`, one request. */
export class Turn {
  readonly #queue: TurnQueue;
  readonly #claim: Claim;
  readonly #options: TurnOptions;
  #expiresAtMs: number;
  #hasMovedOn = false;
  #isRunning = true;

  constructor(queue: TurnQueue, claim: Claim, options: TurnOptions) {
    this.#queue = queue;
    this.#claim = claim;
    this.#options = options;
    this.#expiresAtMs = options.expiresAtMs;
  }

  /** Waits until one request to these addresses may be sent. False: the wait was too long, so the caller must not connect. */
  async moveOn(addresses: readonly Address[]): Promise<boolean> {
    this.#release();
    const { target, withinMs } = this.#options;
    const networks = addresses.map(({ address }) => toNetwork(address));
    // The lookup has counted the first request against the limit of the domain.
    const targets = [...new Set([...(this.#hasMovedOn ? [target] : []), ...networks])];
    const step = { targets, connects: true, expiresAtMs: this.#expiresAtMs };
    this.#isRunning = await this.#queue.take(this.#claim, step);
    this.#hasMovedOn = true;
    this.#expiresAtMs = this.#queue.now() + Math.max(withinMs, MIN_FURTHER_WAIT_MS);
    return this.#isRunning;
  }

  /** @param handshakeMs processor time of TLS handshakes, which is charged to the blocks and the domain */
  end(handshakeMs: number): void {
    this.#queue.charge(this.#claim, handshakeMs);
    this.#release();
  }

  #release(): void {
    if (this.#isRunning) this.#queue.release(this.#claim);
    this.#isRunning = false;
  }
}

/** Finds the registrable domain. Each customer of a hosting provider has one, because private suffixes count too. */
export async function findRegistrableDomain({
  hostname,
}: Pick<Origin, 'hostname'>): Promise<string> {
  // This module holds the list of public suffixes, so it is loaded with the first request.
  const { getDomain } = await import('tldts');
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}
