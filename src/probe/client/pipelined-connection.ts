/** One connection to an origin, its requests in the order of their answers. */
/// <reference path="./undici-client.d.ts" />
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import Client from 'undici/lib/dispatcher/client.js';
import { classifyFailure, type Failure } from '../../guard/failures.ts';
import type { GuardedTarget } from '../../guard/guarded-connect.ts';
import { type Limits, maxAnswerBytes } from '../../guard/limits.ts';
import type { Meter } from '../../guard/metered-transport.ts';
import { type PatientTimer, startPatientTimer } from '../../guard/patient-timer.ts';
import type { Exchange } from './exchange.ts';
import { ResponseCollector, type ResponseListener } from './response-collector.ts';
import type { ScanBudget } from './scan-budget.ts';

export type PipelinedConnectionOptions = {
  /** `https://example.com`: names the Host header; the socket comes from `open`. */
  readonly originUrl: string;
  readonly limits: Limits;
  readonly budget: ScanBudget;
  readonly open: OpenSocket;
  readonly events: ConnectionEvents;
} & OpenedAhead;

/** Of a connection that is opened beside the first one: what its TLS waits for. */
export type OpenedAhead = Pick<GuardedTarget, 'beforeTls'>;

export type OpenSocket = (
  opening: Pick<GuardedTarget, 'signal' | 'meter' | 'onDialled'> & OpenedAhead,
) => Promise<Socket>;

export type ConnectionEvents = {
  /** An address has accepted it; TLS is still to come. */
  dialled(): void;
  /** Requests can be sent. */
  opened(): void;
  /** An answer is complete and the connection holds. */
  freed(connection: PipelinedConnection): void;
  /** The first in line has held the others up for `stallMs`. */
  stalled(connection: PipelinedConnection): void;
  /** Reported once. `failure` is the fault of the first in line, null where no request is to blame. */
  ended(connection: PipelinedConnection, failure: Failure | null): void;
};

/**
 * One connection to an origin and the requests on it, in the order of their answers. One connection is
 * one socket: undici would reconnect and send again by itself, without limit, so the second
 * connect is refused and the owner of the connection decides what is sent again.
 */
export class PipelinedConnection implements ResponseListener, Meter {
  readonly inFlight: ResponseCollector[] = [];
  isConnected = false;
  /** Takes nothing more; ends with its first in line. */
  isRetiring = false;
  /** The first in line has been waiting for longer than others should have to. */
  hasStalled = false;
  answers = 0;
  /** It stood open without a request: the origin may have closed it as one went out. */
  hasIdled = false;
  idleSince = performance.now();
  /** Method of the last complete answer: a body after HEAD looks like garbage before the next. */
  lastMethod = '';
  readonly #options: PipelinedConnectionOptions;
  readonly #client: Client;
  readonly #opening = new AbortController();
  #opened: Promise<Socket> | undefined;
  #socket: Socket | undefined;
  /** undici has its socket, or will have it. */
  #isTaken = false;
  #isEnded = false;
  /** Off the wire since the answer before ended; the handshake does not count. */
  #answerBytes = 0;
  #stallTimer: PatientTimer | undefined;
  #deadlineTimer: PatientTimer | undefined;

  constructor(options: PipelinedConnectionOptions) {
    const { limits } = options;
    this.#options = options;
    this.#client = new Client(options.originUrl, {
      pipelining: limits.pipelining,
      allowH2: false,
      maxHeaderSize: limits.maxHeaderBytes,
      // Both restart with every byte, so a drip outlives them; the connection has a clock of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeoutThreshold: 500,
      connect: (_options, callback) => {
        if (this.#isTaken || this.#isEnded) return callback(new ConnectionClosed(), null);
        this.#isTaken = true;
        this.#openSocket().then(
          (socket) => callback(null, socket),
          (error) => callback(toError(error), null),
        );
      },
    });
    // undici reports its own broken assertions here; its types leave the event out.
    const emitter: EventEmitter = this.#client;
    emitter.on('error', (error) => this.end(classifyFailure(error)));
    // A close while idle or after an answer is no request's fault; before any answer it is the first's.
    this.#client.on('disconnect', (_origin, _clients, error) => {
      this.end(this.answers > 0 ? null : classifyFailure(error));
    });
  }

  get isOpenForWork(): boolean {
    return !this.#isEnded && !this.isRetiring && this.#socket?.destroyed !== true;
  }

  /** Opens its socket before there is a request for it. */
  open(): void {
    this.#openSocket().then(
      (socket) => socket.once('close', () => !this.#isTaken && this.end(null)),
      (error) => !this.#isTaken && this.end(classifyFailure(error)),
    );
  }

  send(exchange: Exchange): void {
    const response = new ResponseCollector(
      exchange,
      this.#options.limits,
      this.#options.budget,
      this,
    );
    if (this.isConnected && this.inFlight.length === 0) this.hasIdled = true;
    this.inFlight.push(response);
    if (this.inFlight.length === 1) this.#startClocks();
    const { method, path, headers, body } = exchange.request;
    const mayPipeline = !exchange.isExclusive;
    this.#client.dispatch(
      {
        method,
        path,
        headers,
        body,
        idempotent: mayPipeline,
        // undici's defaults block the pipeline behind each GET and close it after each HEAD.
        ...(mayPipeline ? { blocking: false, reset: false } : {}),
      },
      response,
    );
  }

  /** Closes the connection; `failure` is the first in line's, null where no request is to blame. */
  end(failure: Failure | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopClocks();
    this.#opening.abort(new ConnectionClosed());
    this.#options.events.ended(this, failure);
    for (const response of this.inFlight) response.isOver = true;
    this.#socket?.destroy();
    this.#destroyClient();
  }

  ended(response: ResponseCollector): void {
    if (this.#isEnded) return;
    this.inFlight.splice(this.inFlight.indexOf(response), 1);
    this.answers += 1;
    this.lastMethod = response.exchange.request.method;
    this.idleSince = performance.now();
    this.#answerBytes = 0;
    this.#stopClocks();
    if (this.isRetiring) {
      this.end(null);
      return;
    }
    if (this.inFlight.length > 0) this.#startClocks();
    // undici closes a connection that does not persist right after this call.
    queueMicrotask(() => {
      if (this.#isEnded) return;
      if (this.#socket?.destroyed) this.end(null);
      else this.#options.events.freed(this);
    });
  }

  received(bytes: number): void {
    const { budget } = this.#options;
    budget.bytes += bytes;
    if (this.isConnected) this.#answerBytes += bytes;
    // Later: what these bytes complete is read before they are held against it.
    if (this.#excess !== null) process.nextTick(() => this.#endIfExcessive());
  }

  spent(ms: number): void {
    const { budget } = this.#options;
    if (this.isConnected) budget.recordMs += ms;
    else budget.handshakeMs += ms;
  }

  failed(_response: ResponseCollector, error: unknown): void {
    this.end(error instanceof ConnectionClosed ? null : classifyFailure(error));
  }

  enough(): void {
    this.end(null);
  }

  /** What the first in line has taken too much of, if anything. */
  get #excess(): Failure | null {
    const { limits, budget } = this.#options;
    if (budget.spent !== null) return { reason: 'budget', detail: budget.spent };
    const capBytes = this.inFlight[0]?.exchange.request.capBytes ?? 0;
    const maxBytes = maxAnswerBytes(capBytes, limits);
    if (this.#answerBytes <= maxBytes) return null;
    const detail = `more than ${maxBytes} bytes on the wire for one answer`;
    return { reason: 'malformed', detail };
  }

  #endIfExcessive(): void {
    const excess = this.#excess;
    if (excess !== null) this.end(excess);
  }

  #openSocket(): Promise<Socket> {
    const { open, events, beforeTls } = this.#options;
    const { signal } = this.#opening;
    this.#opened ??= open({
      signal,
      meter: this,
      beforeTls,
      onDialled: () => events.dialled(),
    }).then((socket) => {
      this.#adopt(socket);
      return socket;
    });
    return this.#opened;
  }

  #adopt(socket: Socket): void {
    if (this.#isEnded) {
      socket.destroy();
      return;
    }
    this.#options.budget.sockets += 1;
    this.#socket = socket;
    this.isConnected = true;
    this.#stallTimer?.restart();
    this.#options.events.opened();
  }

  #destroyClient(): void {
    // Later: we may be inside one of undici's own callbacks, and a client that is destroyed there
    // fails an assertion when its socket closes, where no handler can catch it.
    queueMicrotask(() => {
      this.#client.destroy(new ConnectionClosed()).catch(() => {
        // All waiting requests have been told by now.
      });
    });
  }

  #startClocks(): void {
    const { limits, events } = this.#options;
    const timeoutMs = this.inFlight[0]?.exchange.request.timeoutMs ?? limits.requestTimeoutMs;
    this.hasStalled = false;
    this.#stallTimer = startPatientTimer(limits.stallMs, () => {
      this.hasStalled = true;
      events.stalled(this);
    });
    this.#deadlineTimer = startPatientTimer(timeoutMs, () => {
      const detail = `no complete answer within ${timeoutMs} ms`;
      this.end({ reason: 'timeout', detail });
    });
  }

  #stopClocks(): void {
    this.#stallTimer?.cancel();
    this.#deadlineTimer?.cancel();
  }
}

class ConnectionClosed extends Error {
  constructor() {
    super('this connection is closed');
    this.name = 'ConnectionClosed';
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
