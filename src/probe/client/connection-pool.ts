/** The connections of one scan to one origin. */
import { Exchange, type ExchangeRequest, type Outcome } from './exchange.ts';
import { isExcused } from './excused-failure.ts';
import type { Failure } from './failures.ts';
import type { Limits } from './limits.ts';
import {
  type ConnectionEvents,
  type OpenSocket,
  PipelinedConnection,
} from './pipelined-connection.ts';
import type { ResponseCollector } from './response-collector.ts';
import type { ScanBudget } from './scan-budget.ts';

export type ConnectionPoolOptions = {
  readonly originUrl: string;
  readonly limits: Limits;
  readonly budget: ScanBudget;
  readonly open: OpenSocket;
};

const LOST: Failure = { reason: 'reset', detail: 'the connection closed before the answer' };
const OVER_BUDGET: Failure = { reason: 'budget', detail: 'the scan has used up its requests' };
const NO_MORE_CONNECTIONS: Failure = {
  reason: 'budget',
  detail: 'the scan has used up its connections, or their handshakes its time',
};
/** An idle connection may be closing as a POST, which cannot be sent again, goes out on it. */
const FRESH_FOR_POST_MS = 1_000;
/** Failed connections, none having succeeded, after which an origin is not dialled again. */
const FAILED_CONNECTIONS = 2;

/**
 * All connections of one scan to one origin: which request goes where, and what is sent again.
 *
 * Requests are pipelined only once the origin has kept a connection open after an answer, and no
 * more after one that broke or stalled with others behind it: those move to another connection,
 * once, and from then on each connection carries one request at a time.
 *
 * Where one request is known to be the first of many, the other connections are opened beside it:
 * dialled once an address has accepted the first, taken to TLS once the first got through it.
 */
export class ConnectionPool implements ConnectionEvents {
  readonly #options: ConnectionPoolOptions;
  readonly #connections = new Set<PipelinedConnection>();
  readonly #queue: Exchange[] = [];
  #depth = 1;
  #isPipelineBroken = false;
  #maxConnections: number;
  #failedConnections = 0;
  #hasConnected = false;
  #closed: Failure | null = null;
  #pause: NodeJS.Timeout | undefined;
  #pausedUntil = 0;
  #isScheduled = false;
  #isFirstOfMany = false;
  readonly #firstOpened = Promise.withResolvers<void>();

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    this.#maxConnections = options.limits.socketsPerOrigin;
  }

  run(request: ExchangeRequest): Promise<Outcome> {
    const exchange = new Exchange(request);
    this.#isFirstOfMany ||= request.isFirstOfMany === true;
    this.#queue.push(exchange);
    this.#schedule();
    return exchange.outcome;
  }

  /** Sends nothing for a while: the origin asked for it. Also ends pipelining. */
  pause(ms: number): void {
    this.#breakPipeline();
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    clearTimeout(this.#pause);
    this.#pause = setTimeout(
      () => {
        this.#pausedUntil = 0;
        this.#schedule();
      },
      Math.max(0, this.#pausedUntil - performance.now()),
    );
  }

  /** Ends everything: what waits gets the failure, a header that was seen is kept. */
  close(failure: Failure): void {
    if (this.#closed) return;
    this.#closed = failure;
    clearTimeout(this.#pause);
    for (const exchange of this.#queue.splice(0)) exchange.fail(failure);
    for (const connection of [...this.#connections]) connection.end(failure);
  }

  dialled(): void {
    if (!this.#isFirstOfMany) return;
    this.#isFirstOfMany = false;
    while (this.#mayOpenConnection) this.#openConnection(this.#firstOpened.promise).open();
  }

  opened(): void {
    this.#firstOpened.resolve();
  }

  freed(): void {
    this.#hasConnected = true;
    if (!this.#isPipelineBroken) this.#depth = this.#options.limits.pipelining;
    this.#schedule();
  }

  stalled(connection: PipelinedConnection): void {
    if (!connection.isConnected) {
      if (this.#hasOtherConnection(connection))
        connection.end({ reason: 'timeout', detail: 'no connection' });
      return;
    }
    this.#schedule();
    const behind = connection.inFlight.slice(1).filter((response) => !response.exchange.isResent);
    if (behind.length === 0) return;
    connection.isRetiring = true;
    this.#breakPipeline();
    for (const response of behind.toReversed()) this.#again(response, LOST);
  }

  ended(connection: PipelinedConnection, failure: Failure | null): void {
    this.#connections.delete(connection);
    const pending = connection.inFlight.filter((response) => !response.isOver);
    if (this.#closed) {
      for (const response of pending) response.settle(response.conclude(this.#closed));
      return;
    }
    if (!connection.isConnected && failure) {
      this.#connectionFailed(pending, failure);
    } else {
      this.#hasConnected ||= connection.isConnected;
      if (pending.length > 0) this.#breakPipeline();
      this.#settleOrRepeat(connection, pending, failure);
    }
    this.#schedule();
  }

  #settleOrRepeat(
    connection: PipelinedConnection,
    pending: readonly ResponseCollector[],
    failure: Failure | null,
  ): void {
    // From the last, as each goes to the front of the queue.
    for (const response of pending.toReversed()) {
      const isToBlame = failure !== null && response === connection.inFlight[0];
      if (isToBlame && !isExcused(connection, response, failure)) {
        response.settle(response.conclude(failure));
      } else {
        this.#again(response, failure ?? LOST);
      }
    }
  }

  /** A connection beyond those that work is done without; the first ones decide for all. */
  #connectionFailed(pending: readonly ResponseCollector[], failure: Failure): void {
    if (this.#hasOtherConnection()) {
      this.#maxConnections = this.#connections.size;
      for (const response of pending.toReversed()) this.#again(response, failure);
      return;
    }
    // What waits for the first one to stand waits in vain.
    for (const waiting of [...this.#connections]) {
      if (!waiting.isConnected && waiting.inFlight.length === 0) waiting.end(null);
    }
    this.#failedConnections += 1;
    for (const response of pending) response.settle(response.conclude(failure));
    if (this.#connections.size === 0 && this.#isHopeless) this.close(failure);
  }

  #again(response: ResponseCollector, failure: Failure): void {
    const { exchange, isSent } = response;
    if (isSent && (exchange.isResent || exchange.isExclusive)) {
      response.settle(response.conclude(failure));
      return;
    }
    response.isOver = true;
    if (isSent) exchange.isResent = true;
    else this.#options.budget.requests -= 1;
    this.#queue.unshift(exchange);
  }

  /** Later, never at once: callers may be inside undici's parser, which is not reentrant. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#closed) for (const exchange of this.#queue.splice(0)) exchange.fail(this.#closed);
    if (performance.now() < this.#pausedUntil) return;
    // A POST needs a connection of its own: it goes before what can share one, and waits beside it.
    const posts = this.#queue.filter(({ isExclusive }) => isExclusive);
    const others = this.#queue.filter(({ isExclusive }) => !isExclusive);
    for (const exchange of [...posts, ...others]) {
      if (!this.#options.budget.mayRequest) {
        this.#dequeue(exchange).fail(OVER_BUDGET);
        continue;
      }
      const connection = exchange.isExclusive
        ? this.#connectionForPost()
        : this.#connectionForMany();
      if (!connection) {
        const isLast = this.#connections.size === 0 && !this.#options.budget.mayConnect;
        if (isLast) this.#dequeue(exchange).fail(NO_MORE_CONNECTIONS);
        continue;
      }
      this.#options.budget.requests += 1;
      connection.send(this.#dequeue(exchange));
    }
    if (this.#queue.length === 0) this.#giveWay();
  }

  #dequeue(exchange: Exchange): Exchange {
    this.#queue.splice(this.#queue.indexOf(exchange), 1);
    return exchange;
  }

  #connectionForMany(): PipelinedConnection | null {
    const open = [...this.#connections].filter(
      (connection) => connection.isOpenForWork && !holdsPost(connection),
    );
    open.sort((a, b) => a.inFlight.length - b.inFlight.length);
    const [emptiest] = open;
    if (emptiest && emptiest.inFlight.length === 0) return emptiest;
    if (this.#mayOpenConnection) return this.#openConnection();
    return emptiest && emptiest.inFlight.length < this.#depth ? emptiest : null;
  }

  #connectionForPost(): PipelinedConnection | null {
    if (!this.#mayTakeForPost) return null;
    const idle = [...this.#connections].filter((l) => l.isOpenForWork && l.inFlight.length === 0);
    const freshAfter = performance.now() - FRESH_FOR_POST_MS;
    const fresh = idle.find(
      (connection) => !connection.isConnected || connection.idleSince > freshAfter,
    );
    if (fresh) return fresh;
    for (const stale of idle) stale.end(null);
    return this.#mayOpenConnection ? this.#openConnection() : null;
  }

  /** One connection is left for those that can share it. */
  get #mayTakeForPost(): boolean {
    if (this.#queue.every(({ isExclusive }) => isExclusive)) return true;
    return [...this.#connections].filter(holdsPost).length < this.#maxConnections - 1;
  }

  get #mayOpenConnection(): boolean {
    const hasRoom = this.#connections.size < this.#maxConnections;
    return hasRoom && !this.#isHopeless && this.#options.budget.mayConnect;
  }

  get #isHopeless(): boolean {
    return !this.#hasConnected && this.#failedConnections >= FAILED_CONNECTIONS;
  }

  #openConnection(beforeTls?: Promise<void>): PipelinedConnection {
    this.#options.budget.connections += 1;
    const connection = new PipelinedConnection({ ...this.#options, events: this, beforeTls });
    this.#connections.add(connection);
    return connection;
  }

  #hasOtherConnection(than?: PipelinedConnection): boolean {
    return [...this.#connections].some((l) => l !== than && l.isConnected && l.isOpenForWork);
  }

  /** A server that serves one connection at a time answers on no other until this one closes. */
  #giveWay(): void {
    const connections = [...this.#connections];
    if (!connections.some((connection) => connection.hasStalled && connection.answers === 0))
      return;
    for (const connection of connections)
      if (connection.inFlight.length === 0) connection.end(null);
  }

  #breakPipeline(): void {
    this.#isPipelineBroken = true;
    this.#depth = 1;
  }
}

function holdsPost(connection: PipelinedConnection): boolean {
  return connection.inFlight.some((response) => response.exchange.isExclusive);
}
