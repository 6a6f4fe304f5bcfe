/** Sends requests to indexes and nodes. Redirects are not followed: the operator has to correct the URL in the settings. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import type { Serialized } from '../parse/json/transfer.ts';
import { readRetryAfterMs } from '../parse/text/http-header.ts';
import {
  type AnswerParser,
  type AnswerReader,
  AnswerTooLong,
  DEFAULT_CAP_BYTES,
} from '../third-parties/answer-reader.ts';
import { findCapBytes, NODE_ANSWER_PARSER } from '../third-parties/node-answers.ts';

/** A scan waits at most this long for third parties. */
export const LOOKUP_TIMEOUT_MS = 3_000;

type Deadline = ReturnType<typeof startDeadline>;

/** Starts the time limit of several dependent requests. */
export function startDeadline(timeoutMs: number, stop?: AbortSignal) {
  const end = performance.now() + timeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  return {
    /** The full limit, for messages. */
    timeoutMs,
    /** Aborts when the time is up, or when `stop` aborts. */
    signal: stop === undefined ? timeout : AbortSignal.any([timeout, stop]),
    leftMs: () => Math.max(0, end - performance.now()),
  };
}

type SourceFailure = {
  readonly ok: false;
  /** One line for evidence: the source and its failure. */
  readonly detail: string;
  /** Milliseconds before the source may be asked again; 0 means no pause. */
  readonly pauseMs: number;
  /** The answer exceeds its size cap. */
  readonly isTooLong?: true;
  /** The source answered 429 or 503. */
  readonly isBusy?: true;
};

export type SourceAnswer<T> = { readonly ok: true; readonly value: T } | SourceFailure;

/** Converts the value of an answer; a failure stays as it is. */
export function mapAnswer<T, U>(
  answer: SourceAnswer<T>,
  convert: (value: T) => U,
): SourceAnswer<U> {
  return answer.ok ? { ok: true, value: convert(answer.value) } : answer;
}

export type RequestContext = {
  readonly deadline: Deadline;
  readonly userAgent: string;
  readonly answers: AnswerReader;
  /** Returns the reason not to send a request, or null. A caller that gives it paces requests, so `ask` repeats none. */
  readonly findReasonNotToAsk?: (() => string | null) | undefined;
};

type AskOptions<Value, Detail extends Serialized = null> = RequestContext & {
  readonly parser: AnswerParser<Value, Detail>;
  /** The second argument of the parser. */
  readonly detail: Detail;
  /** Default 1 MiB. */
  readonly capBytes?: number;
  /** JSON to POST. Without it the request is a GET. */
  readonly body?: string;
};

const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503]);
const DEFAULT_RETRY_MS = 1_000;
const MAX_PAUSE_MS = 10 * 60_000;
/** A source that hangs uses up the whole time limit of a scan, so the next scans do not ask it for this long. */
const HANGING_PAUSE_MS = 30_000;

/** Sends one request, and repeats it once after a 429 or 503. Every other status is a success. Never rejects. */
export async function ask<Value, Detail extends Serialized>(
  url: string,
  options: AskOptions<Value, Detail>,
): Promise<SourceAnswer<{ readonly status: number; readonly value: Value }>> {
  const { deadline, findReasonNotToAsk, answers } = options;
  const { parser, detail, capBytes = DEFAULT_CAP_BYTES } = options;
  const name = new URL(url).host;
  try {
    const reason = findReasonNotToAsk?.() ?? null;
    if (reason !== null) return toFailure(`${name} was not asked: ${reason}`);
    for (let isRepeated = false; ; isRepeated = true) {
      const { statusCode: status, headers, body } = await send(url, options);
      if (!BUSY_STATUSES.has(status)) {
        const value = await answers.read(body, capBytes, parser, detail);
        return { ok: true, value: { status, value } };
      }
      const waitMs = readRetryAfter(headers);
      await body.dump();
      const mayRepeat = !isRepeated && !findReasonNotToAsk && waitMs < deadline.leftMs();
      if (!mayRepeat) return toBusyFailure(name, status, waitMs);
      await delay(waitMs, undefined, { signal: deadline.signal });
    }
  } catch (error) {
    if (error instanceof AnswerTooLong)
      return { ...toFailure(`${name} ${error.message}`), isTooLong: true };
    if (deadline.signal.aborted)
      return toFailure(`${name} did not answer within ${deadline.timeoutMs} ms`, HANGING_PAUSE_MS);
    return toFailure(`${name} could not be asked (${readCode(error)})`);
  }
}

/** Sends a request like `ask`, but every status except 200 is a failure. */
export async function askOk<Value, Detail extends Serialized = null>(
  url: string,
  options: AskOptions<Value, Detail>,
): Promise<SourceAnswer<Value>> {
  const reply = await ask(url, options);
  if (!reply.ok) return reply;
  const { status, value } = reply.value;
  if (status !== 200) return toFailure(`${new URL(url).host} answered ${status}`);
  return { ok: true, value };
}

/** Calls a method of a chain's node by JSON-RPC. The answer keeps all logs of a receipt. */
export function askNode(rpcUrl: string, method: string, params: unknown, context: RequestContext) {
  return ask(rpcUrl, {
    ...context,
    capBytes: findCapBytes(method),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    parser: NODE_ANSWER_PARSER,
    detail: { method, contract: null },
  });
}

export function toNodeFailure(rpcUrl: string): SourceFailure {
  return toFailure(`${new URL(rpcUrl).host} answered calls of the chain in no known form`);
}

export function toFailure(detail: string, pauseMs = 0): SourceFailure {
  return { ok: false, detail, pauseMs };
}

function toBusyFailure(name: string, status: number, waitMs: number): SourceFailure {
  const pauseMs = Math.min(waitMs, MAX_PAUSE_MS);
  return { ...toFailure(`${name} answered ${status}`, pauseMs), isBusy: true };
}

function send(
  url: string,
  { deadline, userAgent, body }: Pick<AskOptions<unknown>, 'deadline' | 'userAgent' | 'body'>,
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

function readRetryAfter(headers: Dispatcher.ResponseData['headers']): number {
  const value = String(headers['retry-after'] ?? '');
  return readRetryAfterMs({ headers: [['retry-after', value]] }, Date.now()) ?? DEFAULT_RETRY_MS;
}

function readCode(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.name : 'unknown error';
}
