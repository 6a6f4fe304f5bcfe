/** The connections of one scan to one origin: an undici pool that sends one request at a time on each. */
import { setImmediate as nextLoop } from 'node:timers/promises';
import PQueue from 'p-queue';
import { Pool } from 'undici';
import { ProbeFailure, type RequestFailure } from '../../guard/failures.ts';
import type { Limits, ScanBudget } from '../../guard/limits.ts';
import { startPatientTimer } from '../../guard/timers.ts';
import {
  GuardedClient,
  GuardedSocket,
  type OpenSocket,
  type SocketEvents,
} from './guarded-socket.ts';
import {
  type ExchangeOutcome,
  type ExchangeRequest,
  ResponseCollector,
} from './response-collector.ts';

type OriginPoolOptions = {
  readonly originUrl: string;
  readonly limits: Limits;
  readonly budget: ScanBudget;
  readonly open: OpenSocket;
};

type Attempt = {
  readonly outcome: ExchangeOutcome;
  readonly isSent: boolean;
  readonly canRepeat: boolean;
};

const REQUESTS_SPENT: RequestFailure = {
  reason: 'not-sent',
  detail: 'the scan had sent all requests that it sends to one seller',
};
const BYTES_SPENT: RequestFailure = { reason: 'budget', detail: 'the scan has used up its bytes' };
const CONNECTIONS_SPENT = 'the scan has used up its connections, or its time for TLS handshakes';
const FIRST_CONNECTION_FAILED: RequestFailure = {
  reason: 'reset',
  detail: 'the first connection failed',
};
/** An origin is not dialled again after this many failed connections, if no connection has succeeded. */
const MAX_FAILED_CONNECTIONS = 2;
/** Connections on which one request is tried, if other connections of the origin are open. */
const MAX_ATTEMPTS = 3;
/**
 * Short, because a server that serves one connection at a time answers on another one only after the idle one has
 * closed. A server may also close an idle connection just as we send a POST, and a POST is not sent again.
 */
const KEEP_ALIVE_MS = 1_000;
const PRIORITY = { usual: 0, post: 1, repeat: 2 } as const;

/**
 * Sends a GET or HEAD once more if a reused connection closed during the request, or if a further
 * connection failed while others work. Never repeats a POST. A further connection that cannot be opened
 * is not an error, because the origin may allow fewer.
 *
 * A request that is the first of many also opens the other connections. They are dialled once an address
 * has accepted the first connection, and begin TLS once the first connection has completed TLS.
 */
export class OriginPool implements SocketEvents {
  readonly #options: OriginPoolOptions;
  readonly #pool: Pool;
  readonly #queue: PQueue;
  readonly #pending = new Set<ResponseCollector>();
  readonly #sockets = new Set<GuardedSocket>();
  /** Sockets that were opened before a request needs them. */
  readonly #prepared: GuardedSocket[] = [];
  readonly #firstOpened = Promise.withResolvers<void>();
  #needsMoreSockets = false;
  #hasConnected = false;
  #failedConnections = 0;
  #closeFailure: RequestFailure | null = null;
  #pausedUntil = 0;
  #pauseTimer: NodeJS.Timeout | undefined;

  constructor(options: OriginPoolOptions) {
    this.#options = options;
    const { originUrl, limits } = options;
    const clientOptions = {
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: limits.maxHeaderBytes,
      // Both timeouts restart with every byte, so a slow origin could outlast them. Each request has a deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    } as const;
    this.#queue = new PQueue({ concurrency: limits.socketsPerOrigin });
    this.#pool = new Pool(originUrl, {
      ...clientOptions,
      connections: limits.socketsPerOrigin,
      factory: (origin) => new GuardedClient(origin, clientOptions, () => this.#takeSocket()),
    });
  }

  async run(request: ExchangeRequest): Promise<ExchangeOutcome> {
    this.#needsMoreSockets ||= request.isFirstOfMany === true;
    let priority: number = request.method === 'POST' ? PRIORITY.post : PRIORITY.usual;
    let sentCount = 0;
    for (let attempts = 1; ; attempts += 1) {
      const attempt = await this.#queue.add(() => this.#attempt(request), { priority });
      if (attempt.isSent) sentCount += 1;
      if (!attempt.canRepeat || sentCount > 1 || attempts >= MAX_ATTEMPTS) return attempt.outcome;
      // The next attempt counts the request again.
      if (!attempt.isSent) this.#options.budget.requests -= 1;
      priority = PRIORITY.repeat;
    }
  }

  /** Sends nothing for `ms`, because the origin asked us to wait. Of several pauses, the last to end counts. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    this.#queue.pause();
    clearTimeout(this.#pauseTimer);
    const leftMs = Math.max(0, this.#pausedUntil - performance.now());
    this.#pauseTimer = setTimeout(() => this.#queue.start(), leftMs);
  }

  /** Ends all requests with this failure. If the headers of an answer have arrived, the answer is kept. */
  close(failure: RequestFailure): void {
    if (this.#closeFailure !== null) return;
    this.#closeFailure = failure;
    clearTimeout(this.#pauseTimer);
    this.#queue.start();
    for (const collector of [...this.#pending]) collector.end(failure);
    for (const socket of [...this.#sockets]) socket.close(failure);
    // undici may be in a callback, and asserts afterwards that its client still exists. So the pool is destroyed later.
    queueMicrotask(() => {
      this.#pool.destroy().catch(() => {
        // Every waiting request has been rejected already.
      });
    });
  }

  onDialled(): void {
    if (!this.#needsMoreSockets) return;
    this.#needsMoreSockets = false;
    const { budget, limits } = this.#options;
    while (this.#sockets.size < limits.socketsPerOrigin && budget.canConnect) {
      this.#prepared.push(this.#openSocket(this.#firstOpened.promise));
    }
  }

  onOpened(): void {
    this.#hasConnected = true;
    this.#firstOpened.resolve();
  }

  /** True if other connections are open, so that the scan can do without one that opens slowly. */
  isDispensable(): boolean {
    return this.#countOpenSockets() > 0;
  }

  onClosed(socket: GuardedSocket): void {
    this.#sockets.delete(socket);
    const index = this.#prepared.indexOf(socket);
    if (index !== -1) this.#prepared.splice(index, 1);
    if (index !== -1 || this.#hasConnected) return;
    // The prepared sockets would wait for the first connection for ever.
    for (const prepared of this.#prepared.splice(0)) prepared.close(FIRST_CONNECTION_FAILED);
  }

  async #attempt(request: ExchangeRequest): Promise<Attempt> {
    const { limits, budget } = this.#options;
    const failure = this.#closeFailure ?? findSpentBudget(budget);
    if (failure !== null) {
      return { outcome: { kind: 'failure', failure }, isSent: false, canRepeat: false };
    }
    budget.requests += 1;
    const { method, path, headers, body, timeoutMs } = request;
    const deadline = startPatientTimer(timeoutMs, () => {
      collector.end({ reason: 'timeout', detail: `no complete answer within ${timeoutMs} ms` });
    });
    const collector = new ResponseCollector(request, limits, budget, deadline);
    this.#pending.add(collector);
    // Without `reset: false`, undici closes the connection after each HEAD.
    this.#pool.dispatch({ method, path, headers, body, reset: false }, collector);
    const outcome = await collector.outcome;
    deadline.cancel();
    this.#pending.delete(collector);
    const canRepeat = outcome.kind === 'failure' && this.#decideRepeat(collector, outcome.failure);
    // undici frees the connection in the next turn of the event loop. Until then, the pool would open another one.
    await nextLoop();
    return { outcome, isSent: collector.isSent, canRepeat };
  }

  #decideRepeat(collector: ResponseCollector, failure: RequestFailure): boolean {
    if (this.#closeFailure !== null) return false;
    return collector.isSent
      ? this.#decideSendAgain(collector, failure)
      : this.#decideOtherConnection(collector, failure);
  }

  /** True if the connection closed during the request, or if the body of an earlier HEAD came before the answer. */
  #decideSendAgain(collector: ResponseCollector, { reason }: RequestFailure): boolean {
    const { request, socket, hasAnswerBegun, isOnReusedConnection } = collector;
    if (request.method === 'POST') return false;
    if (reason === 'malformed') return isOnReusedConnection && socket?.lastMethod === 'HEAD';
    if (reason !== 'reset' || hasAnswerBegun) return false;
    return isOnReusedConnection || this.#limitToOpenSockets();
  }

  /** Decides about a request whose connection could not be opened. Closes the pool if the origin takes none at all. */
  #decideOtherConnection({ socket }: ResponseCollector, failure: RequestFailure): boolean {
    if (socket === null) return false;
    if (this.#limitToOpenSockets()) return true;
    this.#failedConnections += 1;
    if (!this.#hasConnected && this.#failedConnections >= MAX_FAILED_CONNECTIONS)
      this.close(failure);
    return false;
  }

  /** Limits the pool to its open connections. Returns false if there are none. */
  #limitToOpenSockets(): boolean {
    const openCount = this.#countOpenSockets();
    if (openCount === 0) return false;
    this.#queue.concurrency = Math.min(this.#queue.concurrency, openCount);
    return true;
  }

  #countOpenSockets(): number {
    return [...this.#sockets].filter(({ isOpen }) => isOpen).length;
  }

  #takeSocket(): GuardedSocket {
    return this.#prepared.shift() ?? this.#openSocket();
  }

  #openSocket(beforeTls?: Promise<void>): GuardedSocket {
    const { limits, budget, open } = this.#options;
    if (!budget.canConnect) throw new ProbeFailure('budget', CONNECTIONS_SPENT);
    budget.connections += 1;
    const socket = new GuardedSocket({ limits, budget, open, beforeTls, events: this });
    this.#sockets.add(socket);
    return socket;
  }
}

function findSpentBudget(budget: ScanBudget): RequestFailure | null {
  if (!budget.canReceive) return BYTES_SPENT;
  return budget.canRequest ? null : REQUESTS_SPENT;
}
