/** The connections of one scan to one origin. */

import type { Failure } from '../../guard/failures.ts';
import type { Limits } from '../../guard/limits.ts';
import { emptiestOf, holdsPost, idleOf } from './choose-connection.ts';
import { Exchange, type ExchangeRequest, type Outcome } from './exchange.ts';
import { isExcused } from './excused-failure.ts';
import {
  type ConnectionEvents,
  type OpenedAhead,
  type OpenSocket,
  PipelinedConnection,
} from './pipelined-connection.ts';
import { PumpSchedule } from './pump-schedule.ts';
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
  readonly #schedule = new PumpSchedule(() => this.#pump());
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
    this.#schedule.soon();
    return exchange.outcome;
  }

  /** Sends nothing for a while: the origin asked for it. Also ends pipelining. */
  pause(ms: number): void {
    this.#breakPipeline();
    this.#schedule.pause(ms);
  }

  /** Ends everything: what waits gets the failure, a header that was seen is kept. */
  close(failure: Failure): void {
    if (this.#closed) return;
    this.#closed = failure;
    this.#schedule.stop();
    for (const exchange of this.#queue.splice(0)) exchange.fail(failure);
    for (const connection of [...this.#connections]) connection.end(failure);
  }

  dialled(): void {
    if (!this.#isFirstOfMany) return;
    this.#isFirstOfMany = false;
    const beforeTls = this.#firstOpened.promise;
    while (this.#mayOpenConnection) this.#openConnection({ beforeTls }).open();
  }

  abandoned(responses: readonly ResponseCollector[], failure: Failure): void {
    // From the last, as each goes to the front of the queue.
    for (const response of responses.toReversed()) this.#again(response, failure);
    this.#schedule.soon();
  }

  opened(): void {
    this.#firstOpened.resolve();
  }

  freed(): void {
    this.#hasConnected = true;
    if (!this.#isPipelineBroken) this.#depth = this.#options.limits.pipelining;
    this.#schedule.soon();
  }

  stalled(connection: PipelinedConnection): void {
    if (!connection.isConnected) {
      if (this.#hasOtherConnection(connection))
        connection.end({ reason: 'timeout', detail: 'no connection' });
      return;
    }
    this.#schedule.soon();
    const behind = connection.inFlight.slice(1).filter((response) => !response.exchange.isResent);
    if (behind.length === 0) return;
    connection.isRetiring = true;
    this.#breakPipeline();
    this.abandoned(behind, LOST);
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
      if (connection.isConnected && pending.length > 0) this.#breakPipeline();
      this.#settleOrRepeat(connection, pending, failure);
    }
    this.#schedule.soon();
  }

  #settleOrRepeat(
    connection: PipelinedConnection,
    pending: readonly ResponseCollector[],
    failure: Failure | null,
  ): void {
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
      this.#maxConnections = Math.max(1, this.#connections.size);
      this.abandoned(pending, failure);
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

  #pump(): void {
    if (this.#closed) for (const exchange of this.#queue.splice(0)) exchange.fail(this.#closed);
    if (this.#schedule.isPaused) return;
    // A POST needs a connection of its own: it goes before what can share one, and waits beside it.
    const posts = this.#queue.filter(({ isExclusive }) => isExclusive);
    const others = this.#queue.filter(({ isExclusive }) => !isExclusive);
    for (const exchange of [...posts, ...others]) {
      if (!this.#options.budget.mayRequest) {
        this.#dequeue(exchange).fail(OVER_BUDGET);
        continue;
      }
      const connection = this.#connectionFor(exchange);
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

  #connectionFor(exchange: Exchange): PipelinedConnection | null {
    return exchange.isExclusive ? this.#connectionForPost() : this.#connectionForMany();
  }

  #connectionForMany(): PipelinedConnection | null {
    const emptiest = emptiestOf(this.#connections);
    if (emptiest?.inFlight.length === 0) return emptiest;
    if (this.#mayOpenConnection) return this.#openConnection();
    return emptiest && emptiest.inFlight.length < this.#depth ? emptiest : null;
  }

  #connectionForPost(): PipelinedConnection | null {
    if (!this.#mayTakeForPost) return null;
    const { fresh, stale } = idleOf(this.#connections);
    if (fresh) return fresh;
    for (const connection of stale) connection.end(null);
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

  #openConnection(ahead?: OpenedAhead): PipelinedConnection {
    this.#options.budget.connections += 1;
    const connection = new PipelinedConnection({ ...this.#options, ...ahead, events: this });
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
