/** A client of undici's pool whose connections are guarded sockets. */
import type { EventEmitter } from 'node:events';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { classifyFailure, ProbeFailure } from '../../guard/failures.ts';
import type { GuardedSocket } from './guarded-socket.ts';
import { ResponseCollector } from './response-collector.ts';

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
