/** One connection to an origin: opened by the guard, counted byte by byte, closed where it takes too much. */
import type { Socket } from 'node:net';
import { ProbeFailure, type RequestFailure } from '../../guard/failures.ts';
import type { GuardedTarget } from '../../guard/guarded-connect.ts';
import { type Limits, maxAnswerBytes } from '../../guard/limits.ts';
import type { Meter } from '../../guard/metered-transport.ts';
import { type PatientTimer, startPatientTimer } from '../../guard/timers.ts';
import type { HttpMethod } from '../../model/observation.ts';
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

/** A request on its way over a socket. */
export type CarriedRequest = {
  readonly request: { readonly capBytes: number };
  end(failure: RequestFailure): void;
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

export class GuardedSocket implements Meter {
  /** Rejects if the connection cannot be opened. */
  readonly opened: Promise<Socket>;
  isOpen = false;
  isClosed = false;
  /** Complete answers that it brought. */
  answers = 0;
  /** Method of the previous answer: bytes after the head of an answer to HEAD look like the next answer. */
  lastMethod: HttpMethod | null = null;
  /** The request that it carries. */
  carried: CarriedRequest | null = null;
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

  /** Failure of an origin that has exceeded a limit; null before that. */
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
