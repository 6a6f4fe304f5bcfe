import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { classifyFailure, ProbeFailure, type RequestFailure } from '../../guard/failures.ts';
import { type Limits, MIN_AVERAGE_PIECE_BYTES, type ScanBudget } from '../../guard/limits.ts';
import type { PatientTimer } from '../../guard/timers.ts';
import type { HttpMethod } from '../../model/observation.ts';
import { LARGE_BODY_BYTES } from '../../parse/text/document-limits.ts';
import { type BodyReading, GrowingBuffer } from './body-reading.ts';
import { decodeBeginning, type ExchangeAnswer } from './decode-body.ts';

type AnswerHead = Pick<ExchangeAnswer, 'status' | 'headers'>;
const NO_HEAD: AnswerHead = { status: 0, headers: [] };
/** Headers about the connection and not about the answer. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Sends one request and collects its answer within its caps. Handles undici's dispatch events itself.
 * undici's `request` shows neither repeated interim responses nor raw headers, and its body stream would
 * buffer past the cap.
 */
export class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly request: ExchangeRequest;
  readonly outcome: Promise<ExchangeOutcome>;
  isSent = false;
  hasAnswerBegun = false;
  /** True once `outcome` is settled. Later bytes are dropped. */
  isOver = false;
  /** The connection that sends the request. */
  socket: RequestSocket | null = null;
  /** True if the connection was used before. The origin may have closed it meanwhile. */
  isOnReusedConnection = false;
  /** True once a connection was opened, or taken, for this request. */
  hasConnected = false;
  readonly #settle: (outcome: ExchangeOutcome) => void;
  /** Number of sequential round trips of the scan up to this request, which counts too. */
  readonly #roundTrips: number;
  readonly #limits: Limits;
  readonly #budget: ScanBudget;
  readonly #clock: PatientTimer;
  readonly #body: GrowingBuffer;
  #pieces = 0;
  #pieceBytes = 0;
  #interimResponses = 0;
  #firstByteMs: number | undefined;
  /** The head of the final answer. Its body comes only after it. */
  #head = NO_HEAD;
  #controller: Dispatcher.DispatchController | undefined;

  /** @param clock the deadline of the request, which started when a connection was asked for */
  constructor(request: ExchangeRequest, limits: Limits, budget: ScanBudget, clock: PatientTimer) {
    const { promise, resolve } = Promise.withResolvers<ExchangeOutcome>();
    this.request = request;
    this.outcome = promise;
    this.#settle = resolve;
    this.#body = new GrowingBuffer(request.capBytes);
    this.#roundTrips = budget.roundTrips + 1;
    this.#limits = limits;
    this.#clock = clock;
    this.#budget = budget;
  }

  /** Says which connection sends the request. */
  attachTo(socket: RequestSocket): void {
    if (this.socket !== null) this.socket.currentRequest = null;
    this.socket = socket;
    this.isOnReusedConnection = socket.isOpen;
    socket.currentRequest = this;
  }

  /** Ends the request and its connection. Status and headers that have arrived are kept. */
  end(failure: RequestFailure): void {
    if (this.isOver) return;
    this.#settleFailure(failure);
    this.#closeConnection(failure);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isOver) controller.abort(new Error('ended before it was sent'));
    else this.isSent = true;
  }

  onResponseStarted(): void {
    this.hasAnswerBegun = true;
    this.#firstByteMs ??= this.#clock.elapsedMs();
  }

  onResponseStart({ rawHeaders }: Dispatcher.DispatchController, status: number): void {
    if (this.isOver) return;
    const headers = readHeaders(Array.isArray(rawHeaders) ? rawHeaders : []);
    if (headers.length > this.#limits.maxHeaders) {
      this.end({ reason: 'malformed', detail: `more than ${this.#limits.maxHeaders} headers` });
    } else if (status >= 200) {
      this.#head = { status, headers: headers.filter(([name]) => !CONNECTION_HEADERS.has(name)) };
    } else if (++this.#interimResponses > this.#limits.maxInterimResponses) {
      const detail = `more than ${this.#limits.maxInterimResponses} interim responses`;
      this.end({ reason: 'malformed', detail });
    }
    this.#endOverBudget();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    const isWithinCap = this.#body.append(chunk);
    this.#pieces += 1;
    this.#pieceBytes += chunk.length;
    this.#endOverBudget();
    if (this.isOver) return;
    if (!isWithinCap) {
      this.#cutBody();
    } else if (this.#hasTooManyPieces) {
      const detail = `the body comes in ${this.#pieces} pieces of ${this.#pieceBytes} bytes in all`;
      this.end({ reason: 'malformed', detail });
    } else if (this.request.reading.isDecisionDue(this.#pieceBytes)) {
      void this.#pauseForDecision(controller);
    }
  }

  #cutBody(): void {
    this.#finish(this.#toAnswer({ truncated: true }));
    // Only closing the connection stops the rest of the body.
    this.#closeConnection({ reason: 'malformed', detail: 'the rest of a body that is too long' });
  }

  /** Pauses a long body until it is decided if more of it is read. */
  async #pauseForDecision(controller: Dispatcher.DispatchController): Promise<void> {
    controller.pause();
    const isLarge = this.#pieceBytes > LARGE_BODY_BYTES;
    // A large body waits for room, and this wait is ours and not the origin's.
    if (isLarge) this.#clock.cancel();
    const { status, headers } = this.#head;
    const body = this.#body.view();
    const decision = await this.request.reading.decideToReadOn({
      status,
      size: this.#pieceBytes,
      wholeSize: this.#findBodyLength(),
      readBeginning: () => decodeBeginning({ headers, body }),
    });
    if (this.isOver) return;
    if (isLarge) this.#clock.restart();
    if (decision === 'read') controller.resume();
    else if (decision === 'cut') this.#cutBody();
    else this.end({ reason: 'not-sent', detail: 'there is no room for a body of this length' });
  }

  /** Returns the length of the text if the head states it. For compressed data, it does not. */
  #findBodyLength(): number | undefined {
    const { headers } = this.#head;
    if (headers.some(([name]) => name === 'content-encoding')) return undefined;
    const length = headers.find(([name]) => name === 'content-length')?.[1] ?? '';
    return /^\d{1,15}$/.test(length) ? Number(length) : undefined;
  }

  onResponseEnd(): void {
    if (!this.isOver) this.#finish(this.#toAnswer({ truncated: false }));
    this.socket?.completeAnswer(this.request.method);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.isOver) this.#settleFailure(classifyFailure(error));
  }

  #settleFailure(failure: RequestFailure): void {
    // An answer that we broke off by a fault of ours must not be judged.
    if (this.#head === NO_HEAD || failure.remedy !== undefined)
      this.#finish({ kind: 'failure', failure });
    else this.#finish(this.#toAnswer({ truncated: true, bodyFailure: failure.reason }));
  }

  #finish(outcome: ExchangeOutcome): void {
    this.isOver = true;
    this.#budget.roundTrips = Math.max(this.#budget.roundTrips, this.#roundTrips);
    this.#settle(outcome);
  }

  #closeConnection(failure: RequestFailure): void {
    if (this.#controller === undefined) this.socket?.close(failure);
    else this.#controller.abort(new ProbeFailure(failure.reason, failure.detail));
  }

  /** Each piece costs as much processor time as a thousand bytes, however small it is. */
  get #hasTooManyPieces(): boolean {
    const { maxBodyPieces, smallBodyPieces } = this.#limits;
    const minBytes = this.#pieces > smallBodyPieces ? MIN_AVERAGE_PIECE_BYTES * this.#pieces : 0;
    return this.#pieces > maxBodyPieces || this.#pieceBytes < minBytes;
  }

  #endOverBudget(): void {
    const { spentReason } = this.#budget;
    if (spentReason !== null) this.end({ reason: 'budget', detail: spentReason });
  }

  #toAnswer(ending: Pick<ExchangeAnswer, 'truncated' | 'bodyFailure'>): ExchangeOutcome {
    const firstByteMs = Math.round(this.#firstByteMs ?? 0);
    const answer = { ...this.#head, body: this.#body.view(), firstByteMs, ...ending };
    return { kind: 'answer', answer };
  }
}

/** Decodes names and values. Some sellers send UTF-8; bytes that are not valid UTF-8 are Latin-1 (RFC 9110). */
function readHeaders(fields: readonly (string | Buffer)[]): ExchangeAnswer['headers'] {
  const texts = fields.map((field) =>
    typeof field === 'string' ? field : field.toString(isUtf8(field) ? 'utf8' : 'latin1'),
  );
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < texts.length; index += 2) {
    pairs.push([texts[index]?.toLowerCase() ?? '', texts[index + 1]?.trim() ?? '']);
  }
  return pairs;
}

/** The part of a connection that a request uses. */
export type RequestSocket = {
  readonly isOpen: boolean;
  /** Method of the previous request on this connection. */
  readonly lastMethod: HttpMethod | null;
  currentRequest: ResponseCollector | null;
  completeAnswer(method: HttpMethod): void;
  close(failure: RequestFailure): void;
};

/** One request to one origin. The caller follows redirects and decodes the body. */
export type ExchangeRequest = {
  readonly method: HttpMethod;
  /** Path and query in the form of the request line. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly capBytes: number;
  readonly timeoutMs: number;
  /** True if more requests to the origin follow. The other connections to it are then opened too. */
  readonly isFirstOfMany?: boolean;
  /** Decides if more of a long body is read. */
  readonly reading: BodyReading;
};

export type ExchangeOutcome =
  | { readonly kind: 'answer'; readonly answer: ExchangeAnswer }
  | { readonly kind: 'failure'; readonly failure: RequestFailure };
