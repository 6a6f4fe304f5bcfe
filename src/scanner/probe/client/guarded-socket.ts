/** One connection to an origin, opened by the guard. It counts its bytes, and closes if they exceed a limit. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { classifyFailure, ProbeFailure, type RequestFailure } from '../../guard/failures.ts';
import type { GuardedTarget } from '../../guard/guarded-connect.ts';
import { computeMaxAnswerBytes, type Limits, type ScanBudget } from '../../guard/limits.ts';
import { type PatientTimer, startPatientTimer } from '../../guard/timers.ts';
import type { Meter } from '../../guard/tls-handshake.ts';
import type { HttpMethod } from '../../model/observation.ts';
import { type RequestSocket, ResponseCollector } from './response-collector.ts';

export type OpenSocket = (
  opening: Pick<GuardedTarget, 'signal' | 'meter' | 'onDialled' | 'beforeTls'>,
) => Promise<Socket>;

type GuardedSocketOptions = {
  readonly limits: Limits;
  readonly budget: ScanBudget;
  readonly open: OpenSocket;
  readonly beforeTls: Promise<void> | undefined;
  readonly events: SocketEvents;
};

export type SocketEvents = {
  /** Called when an address has accepted the connection, before TLS. */
  onDialled(): void;
  /** Called when requests can be sent. */
  onOpened(): void;
  /** Called if the connection is not open after `connectTimeoutMs`. If true, the attempt is ended. */
  isDispensable(): boolean;
  /** Called once, also if the connection never opened. */
  onClosed(socket: GuardedSocket): void;
};

export class GuardedSocket implements Meter, RequestSocket {
  /** Rejects if the connection cannot be opened. */
  readonly opened: Promise<Socket>;
  isOpen = false;
  isClosed = false;
  /** Method of the previous request. If an origin sends a body after HEAD, that body looks like the next answer. */
  lastMethod: HttpMethod | null = null;
  /** The request that this connection serves now. */
  currentRequest: ResponseCollector | null = null;
  readonly #options: GuardedSocketOptions;
  readonly #opening = new AbortController();
  readonly #connectTimer: PatientTimer;
  #socket: Socket | undefined;
  /** Bytes received since the previous answer ended, without the handshake. */
  #answerBytes = 0;

  constructor(options: GuardedSocketOptions) {
    this.#options = options;
    const { open, beforeTls, events, limits } = options;
    this.opened = open({
      signal: this.#opening.signal,
      meter: this,
      beforeTls,
      onDialled: () => events.onDialled(),
    }).then((socket) => this.#useSocket(socket));
    // Without this handler, a failure before a request waits for `opened` would be an unhandled rejection.
    this.opened.catch(() => this.#markClosed());
    this.#connectTimer = startPatientTimer(limits.connectTimeoutMs, () => {
      if (events.isDispensable()) this.close({ reason: 'timeout', detail: 'no connection' });
    });
  }

  /** Called when an answer is complete. Later bytes belong to the next answer. */
  completeAnswer(method: HttpMethod): void {
    this.lastMethod = method;
    this.currentRequest = null;
    this.#answerBytes = 0;
  }

  addBytes(bytes: number): void {
    this.#options.budget.bytes += bytes;
    if (this.isOpen) this.#answerBytes += bytes;
    // Closes in the next tick. The HTTP parser then has read these bytes, which may complete an answer.
    if (this.#limitFailure !== null) process.nextTick(() => this.#endIfExcessive());
  }

  addProcessorMs(ms: number): void {
    if (this.isOpen) this.#options.budget.recordMs += ms;
    else this.#options.budget.handshakeMs += ms;
  }

  /** Closes the connection, or ends its opening with this failure. */
  close({ reason, detail }: RequestFailure): void {
    this.#opening.abort(new ProbeFailure(reason, detail));
    this.#socket?.destroy();
  }

  /** The failure to report if a limit is exceeded, otherwise null. */
  get #limitFailure(): RequestFailure | null {
    const { limits, budget } = this.#options;
    if (budget.spentReason !== null) return { reason: 'budget', detail: budget.spentReason };
    const maxBytes = computeMaxAnswerBytes(this.currentRequest?.request.capBytes ?? 0, limits);
    if (this.#answerBytes <= maxBytes) return null;
    const detail = `more than ${maxBytes} bytes on the wire for one answer`;
    return { reason: 'malformed', detail };
  }

  #endIfExcessive(): void {
    const failure = this.#limitFailure;
    if (failure === null) return;
    this.currentRequest?.end(failure);
    this.close(failure);
  }

  #useSocket(socket: Socket): Socket {
    this.#connectTimer.cancel();
    this.#options.budget.sockets += 1;
    this.#socket = socket;
    this.isOpen = true;
    socket.once('close', () => this.#markClosed());
    // `close` was called while the connection opened. `onClosed` then follows `onOpened`.
    if (this.#opening.signal.aborted) socket.destroy();
    this.#options.events.onOpened();
    return socket;
  }

  #markClosed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#connectTimer.cancel();
    this.#options.events.onClosed(this);
  }
}

/** Throws if no further connection is allowed. */
type TakeSocket = () => GuardedSocket;

/**
 * Tells each request which socket sends it, so that the bytes on the wire count for its answer. undici would
 * connect without limit if connections close before the request is written. Here a request gets one connection,
 * and `OriginPool` decides whether to send the request again.
 */
export class GuardedClient extends Client {
  readonly #connector: RequestConnector;

  constructor(origin: URL, options: Client.Options, takeSocket: TakeSocket) {
    const connector = new RequestConnector(takeSocket);
    super(origin, { ...options, connect: (_options, callback) => connector.connect(callback) });
    this.#connector = connector;
    listenForBrokenAssertion(this, (error) => connector.collector?.end(classifyFailure(error)));
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    if (handler instanceof ResponseCollector) {
      if (handler.isOver) return true; // undici may dispatch the next request
      this.#connector.assign(handler);
    }
    return super.dispatch(options, handler);
  }
}

/** Opens at most one connection for each request. */
class RequestConnector {
  collector: ResponseCollector | null = null;
  readonly #takeSocket: TakeSocket;
  #socket: GuardedSocket | null = null;

  constructor(takeSocket: TakeSocket) {
    this.#takeSocket = takeSocket;
  }

  assign(collector: ResponseCollector): void {
    this.collector = collector;
    if (this.#socket?.isClosed === false) collector.attachTo(this.#socket);
  }

  connect(callback: buildConnector.Callback): void {
    const { collector } = this;
    if (collector === null || collector.isOver || collector.hasConnected) {
      const detail = 'the connection closed before the request was sent';
      callback(new ProbeFailure('reset', detail), null);
      return;
    }
    collector.hasConnected = true;
    try {
      const socket = this.#takeSocket();
      this.#socket = socket;
      collector.attachTo(socket);
      socket.opened.then(
        (opened) => callback(null, opened),
        (error: unknown) => callback(toError(error), null),
      );
    } catch (error) {
      callback(toError(error), null);
    }
  }
}

/** undici reports its broken assertions by an event that its types leave out. */
function listenForBrokenAssertion(client: EventEmitter, listener: (error: unknown) => void): void {
  client.on('error', listener);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
