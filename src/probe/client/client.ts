import { isAscii } from 'node:buffer';
import { OriginRefused } from '../../guard/errors.ts';
import { classifyFailure, ProbeFailure } from '../../guard/failures.ts';
import { type Connector, dial } from '../../guard/guarded-connect.ts';
import { DEFAULT_LIMITS, type Limits } from '../../guard/limits.ts';
import { type Origin, type OriginPolicy, resolveReference, toOrigin } from '../../guard/origin.ts';
import { type Resolution, type Resolver, systemResolver } from '../../guard/resolve.ts';
import { type ProcessorTime, threadTime } from '../../guard/timers.ts';
import type {
  AnswerObservation,
  Hop,
  HttpData,
  HttpMethod,
  Observation,
} from '../../model/observation.ts';
import { findSharedBytes } from '../../parse/json/transfer.ts';
import { observeAnswer, refuseRedirect } from './observe-answer.ts';
import type { ExchangeAnswer, ExchangeOutcome, ExchangeRequest } from './response-collector.ts';
import type { ScanBudget, TextBudget } from './scan-budget.ts';
import { ScanConnections } from './scan-connections.ts';

export type ProbeClientOptions = {
  readonly policy: OriginPolicy;
  readonly resolver?: Resolver;
  readonly userAgent: string;
  /** Deadline of the scan: ends every request that is still open. */
  readonly signal?: AbortSignal;
  /** Further trusted roots, PEM, beside those that Node trusts anyway. */
  readonly extraCa?: readonly string[];
  readonly connect?: Connector;
  readonly limits?: Partial<Limits>;
  /** Clock that measures handshakes; default the processor time of this thread. */
  readonly processorTime?: ProcessorTime;
  /** Shared with the other scans of the process; without it, this client's text is not counted. */
  readonly texts?: TextBudget;
};

/** Makes the client of one scan: on this thread, or on one of its own. */
export type CreateProbeClient = (options: ProbeClientOptions) => ProbeClient;

/** A message of `scan --mcp`: JSON-RPC without a payment, which only `plan/read-mcp.ts` makes. */
export type RpcMessage = {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type ProbeRequest = {
  readonly origin: Origin;
  readonly method: HttpMethod;
  /** Path and query, starting with a slash. */
  readonly path: string;
  readonly body?: '{}';
  /** A message to an MCP endpoint in place of the empty JSON. */
  readonly rpc?: RpcMessage;
  readonly accept?: string;
  /** Headers of a browser; they override those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly capBytes: number;
  /**
   * Redirects that a GET follows. A POST follows at most one 307 or 308, to the same origin; a HEAD follows
   * none.
   */
  readonly redirects: 'none' | 'same-origin' | 'any-guarded';
  readonly timeoutMs?: number;
  /** True when more requests follow its answer; the other connections are then opened beside it. */
  readonly isFirstOfMany?: boolean;
};

export type ProbeStats = Readonly<
  Pick<ScanBudget, 'requests' | 'bytes' | 'sockets' | 'roundTrips' | 'handshakeMs'>
>;

export type ProbeClient = {
  /**
   * Sends one request; a failure of the origin is an observation too. Rejects with OriginRefused when the
   * guard refuses the host (call `check` first), and with ResolverDown when our own resolver does not
   * work.
   */
  request(request: ProbeRequest): Promise<Observation<HttpData>>;
  /** Resolves a host, once a scan. */
  check(origin: Origin): Promise<Resolution>;
  stats(): ProbeStats;
  /** Closes every connection; requests that are still open end as `timeout`. */
  close(): void;
};

const FOLLOWED: Readonly<Record<HttpMethod, ReadonlySet<number>>> = {
  GET: new Set([301, 302, 307, 308]),
  HEAD: new Set(),
  // Only these statuses keep method and body.
  POST: new Set([307, 308]),
};
const DEFAULT_ACCEPT = 'application/json, text/markdown;q=0.9, text/plain;q=0.9, */*;q=0.5';
const MAX_SHOWN_URL = 2_048;

/**
 * The client of one scan, and the only code that opens sockets to origins. Each connection goes
 * through the egress guard; connections, names and counts are shared with no other scan. Cookies,
 * Alt-Svc and the proxies of the environment are not looked at.
 */
export function createProbeClient(options: ProbeClientOptions): ProbeClient {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const connections = new ScanConnections({
    policy: options.policy,
    resolver: options.resolver ?? systemResolver(),
    connector: options.connect ?? dial,
    extraCa: options.extraCa ?? [],
    limits,
    processorTime: options.processorTime ?? threadTime,
  });
  const expire = () => connections.close({ reason: 'timeout', detail: 'the scan ran out of time' });
  if (options.signal?.aborted) expire();
  options.signal?.addEventListener('abort', expire, { once: true });

  const budget = options.texts?.open(() =>
    connections.close({ reason: 'budget', detail: 'this scan holds more text than any other' }),
  );

  async function request(request: ProbeRequest): Promise<Observation<HttpData>> {
    const observation = await follow(request);
    if (observation.ok) budget?.hold(charactersOf(observation.data));
    return observation;
  }

  async function follow(request: ProbeRequest): Promise<Observation<HttpData>> {
    const startedAt = performance.now();
    const ms = () => Math.round(performance.now() - startedAt);
    const redirects: Hop[] = [];
    let url = firstUrl(request);
    // The body of a redirect is decoded only if it is the last answer, because decoding costs time.
    let previous: (() => Promise<AnswerObservation<HttpData>>) | null = null;

    for (;;) {
      const isHop = previous !== null;
      const { userAgent } = options;
      const toSend = exchangeRequest(request, url, { userAgent, limits, isHop });
      const outcome = await send(connections, url, toSend, isHop);
      if (outcome.kind === 'failure') {
        if (previous) return refuseRedirect(await previous(), url.href, outcome.failure);
        return { ok: false, ...outcome.failure, ms: ms() };
      }
      const { answer } = outcome;
      const context = { ...request, url, redirects: [...redirects], ms: ms() };
      const observe = () => observeAnswer(answer, context);
      const location = locationOf(answer, request);
      if (location === null) return await observe();
      const next = admit(location, url, request, { policy: options.policy, isHop });
      if ('detail' in next) {
        return refuseRedirect(await observe(), location.slice(0, MAX_SHOWN_URL), next);
      }

      redirects.push({ url: url.href, status: answer.status, location: next.href });
      const loop = describeLoop(redirects, next, limits.maxRedirects);
      if (loop !== null) return { ok: false, reason: 'redirect-loop', detail: loop, ms: ms() };
      previous = observe;
      url = next;
    }
  }

  return {
    request,
    check: (origin) => connections.check(origin),
    stats: () => statsOf(connections.budget),
    close: () => {
      options.signal?.removeEventListener('abort', expire);
      connections.close({ reason: 'timeout', detail: 'the scan was ended' });
      budget?.release();
    },
  };
}

function statsOf({ requests, bytes, sockets, roundTrips, handshakeMs }: ProbeStats): ProbeStats {
  return { requests, bytes, sockets, roundTrips, handshakeMs };
}

function charactersOf(data: HttpData): number {
  const bytes = findSharedBytes(data, 'body');
  const body = bytes === null ? data.body.length : countCharacters(bytes);
  return data.headers.reduce((sum, [name, value]) => sum + name.length + value.length, body);
}

/** UTF-16 units of a text in UTF-8: one a character, two a character of four bytes. */
function countCharacters(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  let count = 0;
  for (const byte of bytes) {
    if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1;
  }
  return count;
}

function firstUrl({ origin, path }: ProbeRequest): URL {
  // Appended, not resolved: "//other.example/" is a path of this origin.
  if (!path.startsWith('/')) throw new TypeError('path must start with a slash');
  return withoutFragment(new URL(`${origin.url}${path}`));
}

function exchangeRequest(
  request: ProbeRequest,
  url: URL,
  { userAgent, limits, isHop }: { userAgent: string; limits: Limits; isHop: boolean },
): ExchangeRequest {
  const body = request.rpc?.body ?? request.body ?? null;
  return {
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: {
      'user-agent': userAgent,
      accept: request.accept ?? DEFAULT_ACCEPT,
      'accept-encoding': 'identity',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...request.rpc?.headers,
      ...request.headers,
    },
    body,
    capBytes: request.capBytes,
    timeoutMs: request.timeoutMs ?? limits.requestTimeoutMs,
    // The redirect may lead to another origin, which gets no request.
    isFirstOfMany: request.isFirstOfMany === true && !isHop,
  };
}

/** Turns the refusal of a redirect's host into a failure; the refusal of the first host is thrown. */
async function send(
  connections: ScanConnections,
  url: URL,
  request: ExchangeRequest,
  isHop: boolean,
): Promise<ExchangeOutcome> {
  try {
    return await connections.exchange(toOrigin(url), request);
  } catch (error) {
    if (error instanceof ProbeFailure) return { kind: 'failure', failure: classifyFailure(error) };
    if (!isHop || !(error instanceof OriginRefused)) throw error;
    const failure = { reason: 'redirect-refused', detail: error.message } as const;
    return { kind: 'failure', failure };
  }
}

/** Returns the target of a redirect that is to be followed; null for any other answer. */
function locationOf(answer: ExchangeAnswer, { method, redirects }: ProbeRequest): string | null {
  if (redirects === 'none' || !FOLLOWED[method].has(answer.status)) return null;
  return answer.headers.find(([name]) => name === 'location')?.[1] ?? null;
}

/** Returns the next URL, or the reason why it is refused. */
function admit(
  location: string,
  from: URL,
  { origin, method, redirects }: ProbeRequest,
  { policy, isHop }: { readonly policy: OriginPolicy; readonly isHop: boolean },
): URL | { readonly reason: string; readonly detail: string } {
  try {
    const next = withoutFragment(resolveReference(location, from, policy));
    if (method === 'POST' && isHop) {
      return { reason: 'second-redirect', detail: 'a POST is sent to one other place at most' };
    }
    const mayLeave = redirects === 'any-guarded' && method !== 'POST';
    if (mayLeave || next.origin === origin.url) return next;
    return { reason: 'other-origin', detail: 'only redirects on the same origin are followed' };
  } catch (error) {
    if (error instanceof OriginRefused) return { reason: error.reason, detail: error.message };
    throw error;
  }
}

function describeLoop(redirects: readonly Hop[], next: URL, max: number): string | null {
  if (redirects.some((hop) => hop.url === next.href)) {
    return `redirect ${redirects.length} leads back to a URL that had redirected before`;
  }
  return redirects.length > max ? `more than ${max} redirects` : null;
}

function withoutFragment(url: URL): URL {
  url.hash = '';
  return url;
}
