/** Redirects are not followed: an operator has to change the setting of a source that moved. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import type { Deadline } from './deadline.ts';

export type Failure = {
  readonly ok: false;
  /** One line for evidence: the source and its failure. */
  readonly detail: string;
  /** Milliseconds to pause before asking the source again; 0 needs no pause. */
  readonly quietMs: number;
};

export type Answer<T> = { readonly ok: true; readonly value: T } | Failure;

/** The User-Agent and the remaining time. */
export type RequestContext = { readonly deadline: Deadline; readonly userAgent: string };

/**
 * Bytes read of an index's answer. It is parsed on the main thread and contains text of sellers; parsing
 * this many bytes takes some milliseconds.
 */
export const INDEX_ANSWER_BYTES = 1024 * 1024;

export type AskOptions = RequestContext & {
  readonly capBytes: number;
  /** JSON sent with POST; GET when absent. */
  readonly body?: string;
};

export type Reply = { readonly status: number; readonly text: string };

const BUSY: ReadonlySet<number> = new Set([429, 503]);
const DEFAULT_RETRY_MS = 1_000;
const MAX_QUIET_MS = 10 * 60_000;
/** A source that hangs costs a scan its whole limit, so the next scans skip it for this long. */
const SILENT_QUIET_MS = 30_000;

/** Makes one bounded request, repeated once when the source is busy. Any status is a reply; never rejects. */
export async function ask(url: string, options: AskOptions): Promise<Answer<Reply>> {
  const { deadline, capBytes } = options;
  const name = new URL(url).host;
  try {
    let response = await send(url, options);
    if (BUSY.has(response.statusCode)) {
      const waitMs = retryAfterMs(response);
      await response.body.dump();
      if (waitMs >= deadline.leftMs()) return busy(name, response.statusCode, waitMs);
      await delay(waitMs, undefined, { signal: deadline.signal });
      response = await send(url, options);
    }
    if (BUSY.has(response.statusCode)) {
      await response.body.dump();
      return busy(name, response.statusCode, retryAfterMs(response));
    }
    const text = await readCapped(response.body, capBytes);
    if (text === null) return failed(`${name} answered with more than ${capBytes} bytes`);
    return { ok: true, value: { status: response.statusCode, text } };
  } catch (error) {
    if (deadline.signal.aborted) {
      return failed(`${name} did not answer within ${deadline.timeoutMs} ms`, SILENT_QUIET_MS);
    }
    return failed(`${name} could not be asked (${readCode(error)})`);
  }
}

/** Returns the body of a 200; every other status is a failure. */
export async function askText(url: string, options: AskOptions): Promise<Answer<string>> {
  const reply = await ask(url, options);
  if (!reply.ok) return reply;
  const { status, text } = reply.value;
  return status === 200
    ? { ok: true, value: text }
    : failed(`${new URL(url).host} answered ${status}`);
}

/** Parses the text of `askText`; the caller validates its shape. */
export async function askJson(url: string, options: AskOptions): Promise<Answer<unknown>> {
  const text = await askText(url, options);
  if (!text.ok) return text;
  try {
    return { ok: true, value: JSON.parse(text.value) };
  } catch {
    return failed(`${new URL(url).host} answered with something that is not JSON`);
  }
}

export function failed(detail: string, quietMs = 0): Failure {
  return { ok: false, detail, quietMs };
}

function busy(name: string, status: number, waitMs: number): Failure {
  return failed(`${name} answered ${status}`, Math.min(waitMs, MAX_QUIET_MS));
}

function send(
  url: string,
  { deadline, userAgent, body }: AskOptions,
): Promise<Dispatcher.ResponseData> {
  return request(url, {
    method: body === undefined ? 'GET' : 'POST',
    signal: deadline.signal,
    headers: {
      accept: 'application/json, text/html;q=0.5',
      'accept-encoding': 'identity',
      'user-agent': userAgent,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
}

/** Null when the body exceeds the cap. */
async function readCapped(
  body: Dispatcher.ResponseData['body'],
  capBytes: number,
): Promise<string | null> {
  let bytes = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of body) {
    const piece = Buffer.from(chunk);
    // Leaving the loop destroys the body and its connection.
    if (size + piece.length > capBytes) return null;
    // One doubling buffer: a list of small chunks costs many times their size.
    if (size + piece.length > bytes.length) {
      bytes = Buffer.concat([bytes], Math.min(capBytes, 2 * (size + piece.length)));
    }
    piece.copy(bytes, size);
    size += piece.length;
  }
  return bytes.toString('utf8', 0, size);
}

/** Seconds or a date, by RFC 9110 section 10.2.3. */
function retryAfterMs({ headers }: Dispatcher.ResponseData): number {
  const value = headers['retry-after'];
  const text = typeof value === 'string' ? value : '';
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? DEFAULT_RETRY_MS : Math.max(0, at - Date.now());
}

function readCode(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.name : 'unknown error';
}
