/** The connections of one scan to one origin: a pool of undici's, one request at a time on each. */
import { setImmediate as nextLoop } from 'node:timers/promises';
import PQueue from 'p-queue';
import { Pool } from 'undici';
import { ProbeFailure, type RequestFailure } from '../../guard/failures.ts';
import type { Limits } from '../../guard/limits.ts';
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
import type { ScanBudget } from './scan-budget.ts';

export type OriginPoolOptions = {
  readonly originUrl: string;
  readonly limits: Limits;
  readonly budget: ScanBudget;
  readonly open: OpenSocket;
};

type Attempt = {
  readonly outcome: ExchangeOutcome;
  readonly isSent: boolean;
  readonly mayRepeat: boolean;
};

const OVER_BUDGET: RequestFailure = {
  reason: 'budget',
  detail: 'the scan has used up its requests',
};
const NO_MORE_CONNECTIONS = 'the scan has used up its connections, or their handshakes its time';
const FIRST_FAILED: RequestFailure = { reason: 'reset', detail: 'the first connection failed' };
/** Failed connections, none having succeeded, after which an origin is not dialled again. */
const FAILED_CONNECTIONS = 2;
/** Connections that one request is tried on, if others of the origin stand. */
const MAX_TRIES = 3;
/**
 * A server that serves one connection at a time answers on no other until this one closes; and an
 * idle one may be closing as a POST, which cannot be sent again, goes out on it.
 */
const KEEP_ALIVE_MS = 1_000;
const PRIORITY = { usual: 0, post: 1, again: 2 } as const;

/**
 * Sends a GET or HEAD once more when a kept connection was closed during the request, or when a further
 * connection failed while others work; never a POST. A further connection that cannot be opened is not an
 * error, because the origin may allow fewer.
 *
 * With a request that is known to be the first of many, the other connections are opened as well: they are
 * dialled once an address has accepted the first one, and begin TLS once the first one has completed it.
 */
export class OriginPool implements SocketEvents {
  readonly #options: OriginPoolOptions;
  readonly #pool: Pool;
  readonly #queue: PQueue;
  readonly #running = new Set<ResponseCollector>();
  readonly #sockets = new Set<GuardedSocket>();
  /** Opened before a request needs them. */
  readonly #ahead: GuardedSocket[] = [];
  readonly #firstOpened = Promise.withResolvers<void>();
  #isFirstOfMany = false;
  #hasConnected = false;
  #failedConnections = 0;
  #closed: RequestFailure | null = null;
  #pausedUntil = 0;
  #pause: NodeJS.Timeout | undefined;

  constructor(options: OriginPoolOptions) {
    this.#options = options;
    const { originUrl, limits } = options;
    const clientOptions = {
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: limits.maxHeaderBytes,
      // Both restart with every byte, so a drip outlives them; requests have a clock of their own.
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
    this.#isFirstOfMany ||= request.isFirstOfMany === true;
    let priority: number = request.method === 'POST' ? PRIORITY.post : PRIORITY.usual;
    let sent = 0;
    for (let tried = 1; ; tried += 1) {
      const { outcome, isSent, mayRepeat } = await this.#queue.add(() => this.#attempt(request), {
        priority,
      });
      if (isSent) sent += 1;
      if (!mayRepeat || sent > 1 || tried >= MAX_TRIES) return outcome;
      if (!isSent) this.#options.budget.requests -= 1;
      priority = PRIORITY.again;
    }
  }

  /** Sends nothing for a while: the origin asked for it. The longest of several pauses counts. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    this.#queue.pause();
    clearTimeout(this.#pause);
    const leftMs = Math.max(0, this.#pausedUntil - performance.now());
    this.#pause = setTimeout(() => this.#queue.start(), leftMs);
  }

  /** Ends everything: what waits gets the failure, a header that was seen is kept. */
  close(failure: RequestFailure): void {
    if (this.#closed !== null) return;
    this.#closed = failure;
    clearTimeout(this.#pause);
    this.#queue.start();
    for (const response of [...this.#running]) response.end(failure);
    for (const socket of [...this.#sockets]) socket.close(failure);
    // Later: undici may be in the middle of a callback, and asserts that its client is there after it.
    queueMicrotask(() => {
      this.#pool.destroy().catch(() => {
        // Every waiting request has been rejected already.
      });
    });
  }

  dialled(): void {
    if (!this.#isFirstOfMany) return;
    this.#isFirstOfMany = false;
    const { budget, limits } = this.#options;
    while (this.#sockets.size < limits.socketsPerOrigin && budget.mayConnect) {
      this.#ahead.push(this.#openSocket(this.#firstOpened.promise));
    }
  }

  opened(): void {
    this.#hasConnected = true;
    this.#firstOpened.resolve();
  }

  isDispensable(): boolean {
    return this.#openSockets > 0;
  }

  closed(socket: GuardedSocket): void {
    this.#sockets.delete(socket);
    const index = this.#ahead.indexOf(socket);
    if (index !== -1) this.#ahead.splice(index, 1);
    if (index !== -1 || this.#hasConnected) return;
    // Requests that wait for the first connection would wait for ever.
    for (const waiting of this.#ahead.splice(0)) waiting.close(FIRST_FAILED);
  }

  async #attempt(request: ExchangeRequest): Promise<Attempt> {
    const { limits, budget } = this.#options;
    const refusal = this.#closed ?? (budget.mayRequest ? null : OVER_BUDGET);
    if (refusal !== null) return notTried(refusal);
    budget.requests += 1;
    const response = new ResponseCollector(request, limits, budget);
    const { method, path, headers, body, timeoutMs } = request;
    const deadline = startPatientTimer(timeoutMs, () => {
      response.end({ reason: 'timeout', detail: `no complete answer within ${timeoutMs} ms` });
    });
    this.#running.add(response);
    // undici closes a connection after each HEAD, unless it is told otherwise.
    this.#pool.dispatch({ method, path, headers, body, reset: false }, response);
    const outcome = await response.outcome;
    deadline.cancel();
    this.#running.delete(response);
    const isLost = outcome.kind === 'failure' && this.#closed === null;
    const mayRepeat = isLost && this.#mayRepeat(response, outcome.failure);
    // undici frees its connection in the next turn of the loop; before, the pool would open another.
    await nextLoop();
    return { outcome, isSent: response.isSent, mayRepeat };
  }

  #mayRepeat(response: ResponseCollector, failure: RequestFailure): boolean {
    return response.isSent
      ? this.#maySendAgain(response, failure)
      : this.#mayGoElsewhere(response, failure);
  }

  /** The connection was closed as the request went out, or what came was a body after HEAD. */
  #maySendAgain(response: ResponseCollector, { reason }: RequestFailure): boolean {
    const { request, socket, hasAnswerBegun, isOnKept } = response;
    if (request.method === 'POST') return false;
    if (reason === 'malformed') return isOnKept && socket?.lastMethod === 'HEAD';
    if (reason !== 'reset' || hasAnswerBegun) return false;
    if (isOnKept) return true;
    return this.#doWithout();
  }

  /** The connection could not be opened. */
  #mayGoElsewhere({ socket }: ResponseCollector, failure: RequestFailure): boolean {
    if (socket === null) return false;
    if (this.#doWithout()) return true;
    this.#failedConnections += 1;
    if (!this.#hasConnected && this.#failedConnections >= FAILED_CONNECTIONS) this.close(failure);
    return false;
  }

  /** True if other connections are open, so that no further one is needed. */
  #doWithout(): boolean {
    const open = this.#openSockets;
    if (open === 0) return false;
    this.#queue.concurrency = Math.min(this.#queue.concurrency, open);
    return true;
  }

  get #openSockets(): number {
    return [...this.#sockets].filter(({ isOpen }) => isOpen).length;
  }

  #takeSocket(): GuardedSocket {
    return this.#ahead.shift() ?? this.#openSocket();
  }

  #openSocket(beforeTls?: Promise<void>): GuardedSocket {
    const { limits, budget, open } = this.#options;
    if (!budget.mayConnect) throw new ProbeFailure('budget', NO_MORE_CONNECTIONS);
    budget.connections += 1;
    const socket = new GuardedSocket({ limits, budget, open, beforeTls, events: this });
    this.#sockets.add(socket);
    return socket;
  }
}

function notTried(failure: RequestFailure): Attempt {
  return { outcome: { kind: 'failure', failure }, isSent: false, mayRepeat: false };
}
