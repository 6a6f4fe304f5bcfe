/** Heads of answers that are asked for often: checked and written once, not for each answer. */
import {
  type IncomingMessage,
  type Server,
  ServerResponse,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';

export type HeaderTexts = Readonly<Record<Lowercase<string>, string>>;

/** Headers of one answer alone, after those of its head: what is left to its client. */
export type RateHeaders = {
  readonly 'ratelimit-limit': number;
  readonly 'ratelimit-remaining': number;
  readonly 'ratelimit-reset': number;
};

/** Where Node keeps the head of an answer, from `writeHead` to the first write. */
type WithHead = ServerResponse & { _header: string | null };

/** What Node adds to the head of an answer after which the connection stays open. */
export class KeepAliveHeaders {
  readonly #server: Pick<Server, 'keepAliveTimeout'>;
  #second = 0;
  #text = '';

  constructor(server: Pick<Server, 'keepAliveTimeout'>) {
    this.#server = server;
  }

  /** Written anew each second, for its date. */
  text(): string {
    const second = Math.floor(Date.now() / 1_000);
    if (second === this.#second) return this.#text;
    const { keepAliveTimeout } = this.#server;
    const seconds = Math.floor(keepAliveTimeout / 1_000);
    const keepAlive = keepAliveTimeout === 0 ? '' : `Keep-Alive: timeout=${seconds}\r\n`;
    const date = new Date(second * 1_000).toUTCString();
    this.#text = flat(`Date: ${date}\r\nConnection: keep-alive\r\n${keepAlive}\r\n`);
    this.#second = second;
    return this.#text;
  }
}

/**
 * Node checks each character of each header of each answer: for some twenty of them, one of which is a
 * challenge of 2.4 KiB, that is half of what the whole answer costs.
 */
export class PreparedHead {
  readonly #status: number;
  readonly #headers: HeaderTexts;
  readonly #text: string;
  readonly #keepAlive: KeepAliveHeaders;
  #lastBody: string | Buffer = '';
  #lastLength = 0;

  /** Throws where a header could not be sent. */
  constructor(status: number, headers: HeaderTexts, keepAlive: KeepAliveHeaders) {
    const lines = Object.entries(headers).map(([name, value]) => {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      return `${name}: ${value}\r\n`;
    });
    this.#status = status;
    this.#headers = headers;
    this.#text = flat(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}`);
    this.#keepAlive = keepAlive;
  }

  /** Writes the whole answer; for HEAD, all but its body. */
  send(response: ServerResponse, body: string | Buffer, rate: RateHeaders | null): void {
    const length = this.#lengthOf(body);
    if (!this.#takes(response, length, rate)) {
      response.writeHead(this.#status, { ...this.#headers, ...rate, 'content-length': length });
    }
    dropBody(response.req);
    if (response.req.method === 'HEAD') response.end();
    // Of a text that is ASCII alone, Latin-1 has the same bytes, and is copied instead of encoded.
    else response.end(body, length === body.length ? 'latin1' : 'utf8');
  }

  /** Of the same text as before it is known: that of a challenge never changes. */
  #lengthOf(body: string | Buffer): number {
    if (body === this.#lastBody) return this.#lastLength;
    this.#lastBody = body;
    this.#lastLength = Buffer.byteLength(body);
    return this.#lastLength;
  }

  /**
   * Puts the text where `writeHead` would put it. False where Node has more to decide (a connection that
   * closes, HTTP/1.0, headers that were set before), where `writeHead` is watched, and in a Node that
   * keeps the head elsewhere.
   */
  #takes(response: ServerResponse, length: number, rate: RateHeaders | null): boolean {
    const isUsual =
      response.shouldKeepAlive &&
      response.sendDate &&
      response.writeHead === ServerResponse.prototype.writeHead &&
      response.getHeaderNames().length === 0 &&
      '_header' in response;
    if (!isUsual) return false;
    const rateLines = rate === null ? '' : linesOf(rate);
    response.statusCode = this.#status;
    const inside = response as WithHead; // seen to have it
    inside._header = `${this.#text}${rateLines}content-length: ${length}\r\n${this.#keepAlive.text()}`;
    if (response.headersSent) return true;
    inside._header = null;
    return false;
  }
}

/** A text that is put together of pieces is walked piece by piece with each answer that holds it. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/**
 * Drops a body that no handler has begun to read as it comes, instead of keeping it in a stream that is
 * emptied once the answer is written. Node does so by itself for requests without a body, where its
 * `optimizeEmptyRequests` is set, and by this method, which older ones lack.
 */
function dropBody(request: IncomingMessage): void {
  if (request.readableFlowing !== null || request.readableEnded) return;
  const drop: unknown = Reflect.get(request, '_dumpAndCloseReadable');
  if (typeof drop === 'function') drop.call(request);
}

/** Name by name, as walking over an object of them takes seven times as long. */
function linesOf(rate: RateHeaders): string {
  return `ratelimit-limit: ${rate['ratelimit-limit']}\r\nratelimit-remaining: ${rate['ratelimit-remaining']}\r\nratelimit-reset: ${rate['ratelimit-reset']}\r\n`;
}
