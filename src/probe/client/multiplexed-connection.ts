/** One HTTP/2 session to an origin, its answers in any order. */
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { classifyFailure, type Failure } from '../../guard/failures.ts';
import { type Limits, maxAnswerBytes } from '../../guard/limits.ts';
import type { Meter } from '../../guard/metered-transport.ts';
import { type PatientTimer, startPatientTimer } from '../../guard/patient-timer.ts';
import type { Exchange, ExchangeRequest } from './exchange.ts';
import {
  SESSION_WINDOW_BYTES,
  STREAM_WINDOW_BYTES,
  sessionOptions,
  usableStreams,
} from './http2-settings.ts';
import { ResponseCollector, type ResponseListener } from './response-collector.ts';
import type { ScanBudget } from './scan-budget.ts';

export type MultiplexedConnectionOptions = {
  readonly originUrl: string;
  readonly limits: Limits;
  readonly budget: ScanBudget;
  readonly events: MultiplexedEvents;
};

export type MultiplexedEvents = {
  /** There may be room for more, here or elsewhere. */
  freed(): void;
  /** These are to be asked for elsewhere: the session takes nothing more, or has ended. */
  abandoned(responses: readonly ResponseCollector[], failure: Failure): void;
  /** Reported once, with the requests that it leaves. */
  sessionEnded(responses: readonly ResponseCollector[], failure: Failure): void;
};

type Open = { readonly stream: ClientHttp2Stream; readonly deadline: PatientTimer };

const LOST: Failure = { reason: 'reset', detail: 'the HTTP/2 session ended before the answer' };
const BROKEN: Failure = { reason: 'reset', detail: 'the HTTP/2 stream ended before its answer' };
const COSTLY: Failure = { reason: 'malformed', detail: 'its HTTP/2 takes too long to compute' };
/** Error codes of RFC 9113, section 7. */
const NO_ERROR = 0;
const REFUSED_STREAM = 7;
const CANCEL = 8;
const HTTP_1_1_REQUIRED = 13;
/** By RFC 9113 nothing was done for a request that ends so: it counts as never sent. */
const NOT_PROCESSED: ReadonlySet<number> = new Set([REFUSED_STREAM, HTTP_1_1_REQUIRED]);

/**
 * An HTTP/2 session on a socket that the guard opened. It brings whole answers and nothing else: buyers
 * speak HTTP/1.1, so whatever goes wrong here (a stream or the session that breaks, a flood, a stall)
 * ends its use, and what it did not answer is asked for once more over HTTP/1.1, whose answer counts.
 */
export class MultiplexedConnection implements ResponseListener, Meter {
  /** Takes nothing more; ends with its last answer. */
  #isRetiring = false;
  #isEnded = false;
  readonly #options: MultiplexedConnectionOptions;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #open = new Map<ResponseCollector, Open>();
  #hasSettings = false;
  #answers = 0;
  /** Off the wire since an answer ended last, and those of bodies among them. */
  #bytes = 0;
  #bodyBytes = 0;
  /** Processor time of TLS and of frames. */
  #spentMs = 0;
  #stallTimer: PatientTimer | undefined;

  constructor(socket: Socket, options: MultiplexedConnectionOptions) {
    const { originUrl, limits } = options;
    this.#options = options;
    this.#socket = socket;
    // Most origins do not offer it, and Node takes its time to load it.
    const { connect } = process.getBuiltinModule('node:http2');
    this.#session = connect(originUrl, {
      createConnection: () => socket,
      ...sessionOptions(limits),
    });
    this.#session.once('connect', () => {
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(SESSION_WINDOW_BYTES);
    });
    this.#session.once('remoteSettings', (settings) => {
      this.#hasSettings = true;
      if (usableStreams(settings, limits) === 0) this.#retire();
    });
    this.#session.on('goaway', () => this.#retire());
    this.#session.on('error', (error) => this.end(classifyFailure(error)));
    this.#session.once('close', () => this.end(LOST));
  }

  get isOpenForWork(): boolean {
    return !this.#isEnded && !this.#isRetiring && !this.#session.closed && !this.#socket.destroyed;
  }

  /** Whether it takes one more beside `most` others. */
  hasRoom(exchange: Exchange, most: number): boolean {
    if (!this.isOpenForWork || this.#open.size >= most) return false;
    if (!this.#hasSettings) return !exchange.isExclusive;
    return this.#open.size < usableStreams(this.#session.remoteSettings, this.#options.limits);
  }

  send(exchange: Exchange): void {
    const { limits, budget } = this.#options;
    const { request } = exchange;
    const response = new ResponseCollector(exchange, limits, budget, this);
    const stream = this.#request(request);
    if (stream === null) {
      this.#abandon([response], LOST);
      return;
    }
    response.isSent = true;
    const deadline = startPatientTimer(request.timeoutMs, () => this.#expire(response));
    this.#open.set(response, { stream, deadline });
    this.#restartStall();
    stream.on('headers', (_headers, _flags, fields) => this.#begin(response, fields));
    stream.on('response', (_headers, _flags, fields) => {
      this.#begin(response, fields);
      // What follows the head of such an answer is no body, over HTTP/1.1 as little as here.
      if (request.method === 'HEAD') this.#complete(response);
    });
    stream.on('data', (chunk: Buffer) => {
      this.#bodyBytes += chunk.length;
      response.take(chunk);
    });
    stream.on('end', () => {
      if (response.hasHead && stream.rstCode === NO_ERROR) this.#complete(response);
    });
    // Told by its end, below.
    stream.on('error', () => undefined);
    stream.once('close', () => this.#closed(response, stream));
  }

  /** Ends the session; what it has not answered is left to its owner. */
  end(failure: Failure): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stallTimer?.cancel();
    const left = [...this.#open.keys()];
    for (const response of left) this.#forget(response);
    this.#options.events.sessionEnded(left, failure);
    for (const response of left) response.isOver = true;
    this.#socket.destroy();
    this.#session.destroy();
  }

  ended(response: ResponseCollector): void {
    this.#forget(response);
    this.#answers += 1;
    this.#bytes = Math.min(0, this.#bytes);
    this.#bodyBytes = 0;
    this.#restartStall();
    this.#options.events.freed();
    this.#endIfDone();
  }

  failed(_response: ResponseCollector, error: unknown): void {
    this.end(classifyFailure(error));
  }

  enough(response: ResponseCollector): void {
    this.#cut(response);
    this.ended(response);
  }

  received(bytes: number): void {
    this.#options.budget.bytes += bytes;
    this.#bytes += bytes;
    // Later: what these bytes complete is read before they are held against the session.
    if (this.#excess !== null) process.nextTick(() => this.#excess && this.end(this.#excess));
  }

  spent(ms: number): void {
    this.#options.budget.recordMs += ms;
    this.#spentMs += ms;
  }

  /** What has been taken too much of, if anything. Frames need less than the chunks of HTTP/1.1 for a body. */
  get #excess(): Failure | null {
    const { limits, budget } = this.#options;
    if (budget.spent !== null) return { reason: 'budget', detail: budget.spent };
    // The other half is for what is asked for again.
    if (this.#spentMs > limits.maxTlsMs / 2) return COSTLY;
    // One more than the answers that are under way: a read may be counted before it is unpacked.
    const maxBytes = maxAnswerBytes(this.#bodyBytes, limits, this.#open.size + 1);
    if (this.#bytes <= maxBytes) return null;
    const detail = `more than ${maxBytes} bytes on the wire for ${this.#bodyBytes} bytes of answers`;
    return { reason: 'malformed', detail };
  }

  /** Null where the session takes no more, though it has not said so yet. */
  #request({ method, path, headers, body }: ExchangeRequest): ClientHttp2Stream | null {
    const fields = {
      ':method': method,
      ':scheme': 'https',
      ':authority': new URL(this.#options.originUrl).host,
      ':path': path,
      ...headers,
      ...(body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    };
    try {
      const stream = this.#session.request(fields, { endStream: body === null });
      if (body !== null) stream.end(body);
      return stream;
    } catch {
      return null;
    }
  }

  /** Node gives a byte of a value as a character each, and no limit of its own on all of them. */
  #begin(response: ResponseCollector, fields: readonly string[]): void {
    const { maxHeaderBytes } = this.#options.limits;
    if (fields.reduce((sum, { length }) => sum + length, 0) > maxHeaderBytes) {
      this.end({ reason: 'malformed', detail: `headers exceed ${maxHeaderBytes} bytes` });
      return;
    }
    const at = fields.indexOf(':status');
    const own = fields.filter((_, index) => index !== at && index !== at + 1);
    response.onResponseStarted();
    response.begin(
      Number(fields[at + 1]),
      own.map((field) => Buffer.from(field, 'latin1')),
    );
  }

  #complete(response: ResponseCollector): void {
    if (this.#open.has(response)) response.complete();
  }

  #expire(response: ResponseCollector): void {
    const { timeoutMs } = response.exchange.request;
    const detail = `no complete answer within ${timeoutMs} ms`;
    response.settle(response.conclude({ reason: 'timeout', detail }));
    this.#cut(response);
    this.#options.events.freed();
    this.#endIfDone();
  }

  /** The stream is gone: too early, unless its answer was complete or cut. */
  #closed(response: ResponseCollector, stream: ClientHttp2Stream): void {
    if (!this.#open.has(response)) return;
    if (NOT_PROCESSED.has(stream.rstCode ?? 0)) response.isSent = false;
    this.#abandon([response], BROKEN);
  }

  /** As behind a path that hangs on a connection of HTTP/1.1: the others move, and it may go on. */
  #stalled(): void {
    const [oldest] = this.#open.keys();
    const left = [...this.#open.keys()].filter(
      (response) =>
        !response.hasAnswerBegun &&
        !response.exchange.isExclusive &&
        !response.exchange.isResent &&
        (response !== oldest || this.#answers === 0),
    );
    if (left.length > 0) this.#abandon(left, LOST);
  }

  #abandon(responses: readonly ResponseCollector[], failure: Failure): void {
    for (const response of responses) this.#cut(response);
    this.#options.events.abandoned(responses, failure);
    this.#retire();
  }

  #retire(): void {
    this.#isRetiring = true;
    this.#options.events.freed();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#isRetiring && this.#open.size === 0) this.end(LOST);
  }

  #cut(response: ResponseCollector): void {
    const stream = this.#open.get(response)?.stream;
    this.#forget(response);
    if (stream?.closed !== false) return;
    stream.close(CANCEL);
    // What is under way by then is dropped unread.
    this.#bytes -= STREAM_WINDOW_BYTES;
  }

  #forget(response: ResponseCollector): void {
    this.#open.get(response)?.deadline.cancel();
    this.#open.delete(response);
  }

  #restartStall(): void {
    this.#stallTimer?.cancel();
    if (this.#open.size === 0) return;
    this.#stallTimer = startPatientTimer(this.#options.limits.stallMs, () => this.#stalled());
  }
}
