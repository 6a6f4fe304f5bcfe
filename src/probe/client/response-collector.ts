/** Collects one answer on a connection, within its caps. */
import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { type Failure, ProbeFailure } from '../../guard/failures.ts';
import { type Limits, SMALL_PIECE_BYTES } from '../../guard/limits.ts';
import type { Answer, Exchange, Outcome } from './exchange.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import type { ScanBudget } from './scan-budget.ts';

/** Headers about the connection and not about the answer. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** What a connection wants to hear of the requests on it. */
export type ResponseListener = {
  ended(response: ResponseCollector): void;
  failed(response: ResponseCollector, error: unknown): void;
  /** The answer is settled, but its body goes on: only closing the connection stops it. */
  enough(response: ResponseCollector): void;
};

/**
 * One exchange on one connection: collects the answer within its caps. Handles undici's dispatch
 * events itself, because its `request` shows neither repeated interim responses nor raw headers,
 * and a body stream would buffer past the cap.
 */
export class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly exchange: Exchange;
  /** Number of round trips up to and with this one. */
  readonly round: number;
  isSent = false;
  hasAnswerBegun = false;
  /** Settled, or carried on elsewhere: bytes that still arrive here are dropped. */
  isOver = false;
  readonly #limits: Limits;
  readonly #budget: ScanBudget;
  readonly #listener: ResponseListener;
  readonly #startedAt = performance.now();
  readonly #body: GrowingBuffer;
  #pieces = 0;
  #pieceBytes = 0;
  #interimResponses = 0;
  #firstByteMs: number | undefined;
  #head: Pick<Answer, 'status' | 'headers'> | undefined;

  constructor(exchange: Exchange, limits: Limits, budget: ScanBudget, listener: ResponseListener) {
    this.exchange = exchange;
    this.#body = new GrowingBuffer(exchange.request.capBytes);
    this.round = budget.roundTrips + 1;
    this.#limits = limits;
    this.#budget = budget;
    this.#listener = listener;
  }

  /** The outcome if the connection ends now; a header that was seen outlives its body. */
  conclude(failure: Failure): Outcome {
    if (!this.#head) return { kind: 'failure', failure };
    return this.#answered({ truncated: true, bodyFailure: failure.reason });
  }

  onRequestStart(): void {
    this.isSent = true;
  }

  onResponseStarted(): void {
    this.hasAnswerBegun = true;
    this.#firstByteMs ??= performance.now() - this.#startedAt;
  }

  onResponseStart({ rawHeaders }: Dispatcher.DispatchController, status: number): void {
    this.begin(status, Array.isArray(rawHeaders) ? rawHeaders : []);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.take(chunk);
  }

  onResponseEnd(): void {
    this.complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.isOver) this.#listener.failed(this, error);
  }

  /** Status and headers, names and values in turn: of an interim answer, or of the final one. */
  begin(status: number, fields: readonly (string | Buffer)[]): void {
    if (this.isOver) return;
    const headers = readHeaders(fields);
    if (headers.length > this.#limits.maxHeaders) {
      const detail = `more than ${this.#limits.maxHeaders} headers`;
      this.#listener.failed(this, new ProbeFailure('malformed', detail));
    } else if (status >= 200) {
      this.#head = { status, headers: headers.filter(([name]) => !OF_THE_CONNECTION.has(name)) };
    } else if (++this.#interimResponses > this.#limits.maxInterimResponses) {
      const detail = `more than ${this.#limits.maxInterimResponses} interim responses`;
      this.#listener.failed(this, new ProbeFailure('malformed', detail));
    }
    if (this.#budget.spent !== null) this.#overBudget(this.#budget.spent);
  }

  /** A piece of the body. */
  take(chunk: Buffer): void {
    if (this.isOver) return;
    const isWithinCap = this.#body.append(chunk);
    this.#pieces += 1;
    this.#pieceBytes += chunk.length;
    if (this.#budget.spent !== null) {
      this.#overBudget(this.#budget.spent);
    } else if (!isWithinCap) {
      this.settle(this.#answered({ truncated: true }));
      this.#listener.enough(this);
    } else if (this.#isCrumbs) {
      const detail = `the body comes in ${this.#pieces} pieces of ${this.#pieceBytes} bytes in all`;
      this.#listener.failed(this, new ProbeFailure('malformed', detail));
    }
  }

  complete(): void {
    if (!this.isOver) this.settle(this.#answered({ truncated: false }));
    this.#listener.ended(this);
  }

  settle(outcome: Outcome): void {
    this.isOver = true;
    this.#budget.roundTrips = Math.max(this.#budget.roundTrips, this.round);
    this.exchange.settle(outcome);
  }

  /** Each piece costs as much as a thousand bytes do, however small it is. */
  get #isCrumbs(): boolean {
    const { maxBodyPieces, smallBodyPieces } = this.#limits;
    if (this.#pieces > maxBodyPieces) return true;
    return this.#pieces > smallBodyPieces && this.#pieceBytes < SMALL_PIECE_BYTES * this.#pieces;
  }

  #overBudget(detail: string): void {
    if (this.isOver) return;
    this.settle(this.conclude({ reason: 'budget', detail }));
    this.#listener.enough(this);
  }

  #answered(rest: Pick<Answer, 'truncated' | 'bodyFailure'>): Outcome {
    const { status, headers } = this.#head ?? { status: 0, headers: [] };
    const body = this.#body.contents();
    const firstByteMs = Math.round(this.#firstByteMs ?? 0);
    return { kind: 'answer', answer: { status, headers, body, firstByteMs, ...rest } };
  }
}

/** Bytes are UTF-8 where they are valid as such (some sellers send it), else Latin-1 (RFC 9110). */
function readHeaders(fields: readonly (string | Buffer)[]): Answer['headers'] {
  const texts = fields.map((field) =>
    typeof field === 'string' ? field : field.toString(isUtf8(field) ? 'utf8' : 'latin1'),
  );
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < texts.length; index += 2) {
    pairs.push([texts[index]?.toLowerCase() ?? '', texts[index + 1]?.trim() ?? '']);
  }
  return pairs;
}
