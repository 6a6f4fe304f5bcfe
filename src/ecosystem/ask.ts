/**
 * One bounded request to a third party: time, size and one retry where it says that it is busy.
 * Redirects are not followed: a source that moved is a setting to change, not a hop to trust.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import type { Deadline } from './deadline.ts';

export type Failure = {
  readonly ok: false;
  /** One line for evidence: who, and what went wrong. */
  readonly detail: string;
  /** How long the source is better left alone; 0 where nothing speaks against context again. */
  readonly quietMs: number;
};

export type Answer<T> = { readonly ok: true; readonly value: T } | Failure;

/** The asker's name, and the time that is left to it. */
export type RequestContext = { readonly deadline: Deadline; readonly userAgent: string };

/**
 * The most of an index's answer that is read. It is parsed on the thread that serves, and rows carry
 * what sellers wrote: parsing this much takes some milliseconds.
 */
export const INDEX_ANSWER_BYTES = 1024 * 1024;

export type AskOptions = RequestContext & {
  readonly capBytes: number;
  /** JSON, sent with POST; GET where it is left out. */
  readonly body?: string;
};

export type Reply = { readonly status: number; readonly text: string };

const BUSY: ReadonlySet<number> = new Set([429, 503]);
const DEFAULT_RETRY_MS = 1_000;
const MAX_QUIET_MS = 10 * 60_000;
/** A source that hangs costs every scan its whole limit: the next ones do without it for a while. */
const SILENT_QUIET_MS = 30_000;

/** Any status is a reply; never rejects. */
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
    return failed(`${name} could not be asked (${codeOf(error)})`);
  }
}

/** The body of a 200; everything else is a failure. */
export async function askText(url: string, options: AskOptions): Promise<Answer<string>> {
  const reply = await ask(url, options);
  if (!reply.ok) return reply;
  const { status, text } = reply.value;
  return status === 200
    ? { ok: true, value: text }
    : failed(`${new URL(url).host} answered ${status}`);
}

/** As `askText`, parsed; the shape is the caller's to check. */
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

/** Null where there is more of it. */
async function readCapped(
  body: Dispatcher.ResponseData['body'],
  capBytes: number,
): Promise<string | null> {
  let bytes = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of body) {
    const piece = Buffer.from(chunk);
    // Leaving the loop destroys the body, and the connection with it.
    if (size + piece.length > capBytes) return null;
    // One buffer that doubles: kept pieces cost many times their size where they are small.
    if (size + piece.length > bytes.length) {
      bytes = Buffer.concat([bytes], Math.min(capBytes, 2 * (size + piece.length)));
    }
    piece.copy(bytes, size);
    size += piece.length;
  }
  return bytes.toString('utf8', 0, size);
}

/** Seconds, or a date: RFC 9110 section 10.2.3. */
function retryAfterMs({ headers }: Dispatcher.ResponseData): number {
  const value = headers['retry-after'];
  const text = typeof value === 'string' ? value : '';
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? DEFAULT_RETRY_MS : Math.max(0, at - Date.now());
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.name : 'unknown error';
}
