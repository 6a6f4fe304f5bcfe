/** One connection to an origin: opened by the guard, counted byte by byte, closed if it takes too much. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { classifyFailure, ProbeFailure, type RequestFailure } from '../../guard/failures.ts';
import type { GuardedTarget } from '../../guard/guarded-connect.ts';
import { type Limits, maxAnswerBytes } from '../../guard/limits.ts';
import type { Meter } from '../../guard/metered-transport.ts';
import { type PatientTimer, startPatientTimer } from '../../guard/timers.ts';
import type { HttpMethod } from '../../model/observation.ts';
import { type CarryingSocket, ResponseCollector } from './response-collector.ts';
import type { ScanBudget } from './scan-budget.ts';

export type OpenSocket = (
  opening: Pick<GuardedTarget, 'signal' | 'meter' | 'onDialled' | 'beforeTls'>,
) => Promise<Socket>;

export type GuardedSocketOptions = {
  readonly limits: Limits;
  readonly budget: ScanBudget;
  readonly open: OpenSocket;
  readonly beforeTls: Promise<void> | undefined;
  readonly events: SocketEvents;
};

export type SocketEvents = {
  /** An address has accepted the connection; TLS is still to come. */
  dialled(): void;
  /** Requests can be sent. */
  opened(): void;
  /** The connection is not there after `connectTimeoutMs`; true gives it up. */
  isDispensable(): boolean;
  /** Told once, whether it was ever open or not. */
  closed(socket: GuardedSocket): void;
};

export class GuardedSocket implements Meter, CarryingSocket {
  /** Rejects if the connection cannot be opened. */
  readonly opened: Promise<Socket>;
  isOpen = false;
  isClosed = false;
  /** Complete answers that it brought. */
  answers = 0;
  /** Method of the previous answer: bytes after the head of an answer to HEAD look like the next answer. */
  lastMethod: HttpMethod | null = null;
  /** The request that it carries. */
  carried: ResponseCollector | null = null;
  readonly #options: GuardedSocketOptions;
  readonly #opening = new AbortController();
  readonly #patience: PatientTimer;
  #socket: Socket | undefined;
  /** Off the wire since the answer before ended; the handshake does not count. */
  #answerBytes = 0;

  constructor(options: GuardedSocketOptions) {
    this.#options = options;
    const { open, beforeTls, events, limits } = options;
    this.opened = open({
      signal: this.#opening.signal,
      meter: this,
      beforeTls,
      onDialled: () => events.dialled(),
    }).then((socket) => this.#adopt(socket));
    // A connection that is opened ahead may fail before a request waits for it.
    this.opened.catch(() => this.#closed());
    this.#patience = startPatientTimer(limits.connectTimeoutMs, () => {
      if (events.isDispensable()) this.close({ reason: 'timeout', detail: 'no connection' });
    });
  }

  /** An answer is complete; what comes from here on belongs to the next. */
  answered(method: HttpMethod): void {
    this.answers += 1;
    this.lastMethod = method;
    this.carried = null;
    this.#answerBytes = 0;
  }

  received(bytes: number): void {
    this.#options.budget.bytes += bytes;
    if (this.isOpen) this.#answerBytes += bytes;
    // Later: what these bytes complete is read before they are held against it.
    if (this.#excess !== null) process.nextTick(() => this.#endIfExcessive());
  }

  spent(ms: number): void {
    if (this.isOpen) this.#options.budget.recordMs += ms;
    else this.#options.budget.handshakeMs += ms;
  }

  /** Closes the connection, or ends its opening with this failure. */
  close({ reason, detail }: RequestFailure): void {
    this.#opening.abort(new ProbeFailure(reason, detail));
    this.#socket?.destroy();
  }

  /** RequestFailure of an origin that has exceeded a limit; null before that. */
  get #excess(): RequestFailure | null {
    const { limits, budget } = this.#options;
    if (budget.spent !== null) return { reason: 'budget', detail: budget.spent };
    const maxBytes = maxAnswerBytes(this.carried?.request.capBytes ?? 0, limits);
    if (this.#answerBytes <= maxBytes) return null;
    const detail = `more than ${maxBytes} bytes on the wire for one answer`;
    return { reason: 'malformed', detail };
  }

  #endIfExcessive(): void {
    const excess = this.#excess;
    if (excess === null) return;
    this.carried?.end(excess);
    this.close(excess);
  }

  #adopt(socket: Socket): Socket {
    this.#patience.cancel();
    this.#options.budget.sockets += 1;
    this.#socket = socket;
    this.isOpen = true;
    socket.once('close', () => this.#closed());
    if (this.#opening.signal.aborted) socket.destroy();
    this.#options.events.opened();
    return socket;
  }

  #closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#patience.cancel();
    this.#options.events.closed(this);
  }
}

/** Throws if no further connection is allowed. */
export type TakeSocket = () => GuardedSocket;

/**
 * Ties each request to the socket that carries it, so that bytes on the wire count for its answer.
 * undici connects again without limit if a connection closes before the request is written: here a
 * request gets one connection, and its owner decides whether it is tried once more.
 */
export class GuardedClient extends Client {
  readonly #carrier: Carrier;

  constructor(origin: URL, options: Client.Options, takeSocket: TakeSocket) {
    const carrier = new Carrier(takeSocket);
    super(origin, {
      ...options,
      connect: (_options, callback) => carrier.connect(callback),
    });
    this.#carrier = carrier;
    onBrokenAssertion(this, (error) => carrier.response?.end(classifyFailure(error)));
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    if (handler instanceof ResponseCollector) {
      if (handler.isOver) return true;
      this.#carrier.carry(handler);
    }
    return super.dispatch(options, handler);
  }
}

class Carrier {
  response: ResponseCollector | null = null;
  readonly #takeSocket: TakeSocket;
  #socket: GuardedSocket | null = null;

  constructor(takeSocket: TakeSocket) {
    this.#takeSocket = takeSocket;
  }

  carry(response: ResponseCollector): void {
    this.response = response;
    if (this.#socket?.isClosed === false) response.ride(this.#socket);
  }

  connect(callback: buildConnector.Callback): void {
    const { response } = this;
    if (response === null || response.isOver || response.hasConnected) {
      callback(
        new ProbeFailure('reset', 'the connection closed before the request was sent'),
        null,
      );
      return;
    }
    response.hasConnected = true;
    try {
      const socket = this.#takeSocket();
      this.#socket = socket;
      response.ride(socket);
      socket.opened.then(
        (opened) => callback(null, opened),
        (error: unknown) => callback(toError(error), null),
      );
    } catch (error) {
      callback(toError(error), null);
    }
  }
}

/** undici tells of them by an event that its types leave out. */
function onBrokenAssertion(client: EventEmitter, tell: (error: unknown) => void): void {
  client.on('error', tell);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
