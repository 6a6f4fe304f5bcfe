import { classifyFailure, OriginRefused, ProbeFailure } from '../../guard/failures.ts';
import { type Connector, dial } from '../../guard/guarded-connect.ts';
import { DEFAULT_LIMITS, type Limits, type ScanBudget } from '../../guard/limits.ts';
import { createSystemResolver, type Resolver } from '../../guard/name-servers.ts';
import { type Origin, type OriginPolicy, resolveReference, toOrigin } from '../../guard/origin.ts';
import type { Resolution } from '../../guard/resolve.ts';
import { type ProcessorTime, readThreadTime } from '../../guard/timers.ts';
import type {
  AnswerObservation,
  Hop,
  HttpData,
  HttpMethod,
  Observation,
} from '../../model/observation.ts';
import { BodyReading, type LargeBodies } from './body-reading.ts';
import { type ExchangeAnswer, observeAnswer, refuseRedirect } from './decode-body.ts';
import type { ExchangeOutcome, ExchangeRequest } from './response-collector.ts';
import { ScanConnections } from './scan-connections.ts';
import { sendWithinBudget, type TextBudget } from './text-budget.ts';

export type ProbeClientOptions = {
  readonly policy: OriginPolicy;
  readonly resolver?: Resolver | undefined;
  readonly userAgent: string;
  /** Aborted at the deadline of the scan. All running requests then end as `timeout`. */
  readonly signal?: AbortSignal | undefined;
  /** Trusted roots (PEM) in addition to those of Node. */
  readonly extraCa?: readonly string[] | undefined;
  readonly connect?: Connector;
  readonly limits?: Partial<Limits> | undefined;
  /** Clock that measures handshakes; default the processor time of this thread. */
  readonly processorTime?: ProcessorTime;
  /** Shared with the other scans of the process. Without it, this client's text is not counted. */
  readonly textBudget?: TextBudget;
};

/** Makes the client of one scan, on this thread or on another thread. */
export type CreateProbeClient = (options: ProbeClientOptions) => ProbeClient;

/** A JSON-RPC message of `scan --mcp`, without a payment. Only `plan/read-mcp.ts` makes it. */
export type RpcMessage = {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type ProbeRequest = {
  readonly origin: Origin;
  readonly method: HttpMethod;
  /** Path and query, starting with a slash. */
  readonly path: string;
  /** The only body that a scan sends, except for MCP. */
  readonly body?: '{}';
  /** A message to an MCP endpoint. It is sent instead of `body`. */
  readonly rpc?: RpcMessage;
  readonly accept?: string;
  /** Headers that a browser would send. They override the default headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly capBytes: number;
  /** True for the path of a JSON document. A body that does not begin like JSON is then cut long before `capBytes`. */
  readonly expectsJson?: boolean;
  /**
   * Redirects that a GET follows. A POST follows at most one 307 or 308, to the same origin. A HEAD follows
   * no redirect.
   */
  readonly redirects: 'none' | 'same-origin' | 'any-guarded';
  readonly timeoutMs?: number;
  /** True if more requests to the origin follow. The other connections to it are then opened too. */
  readonly isFirstOfMany?: boolean;
};

export type ProbeStats = Readonly<
  Pick<ScanBudget, 'requests' | 'bytes' | 'sockets' | 'roundTrips' | 'handshakeMs'>
>;

export type ProbeClient = {
  /**
   * Sends one request. A failure of the origin is an observation too. Rejects with OriginRefused if the guard
   * refuses the host (call `resolveOrigin` first), and with OurFault if this machine or this program fails.
   */
  request(request: ProbeRequest): Promise<Observation<HttpData>>;
  /** Resolves the host once, and keeps the result for the scan. */
  resolveOrigin(origin: Origin): Promise<Resolution>;
  stats(): ProbeStats;
  /** Closes every connection; requests that are still open end as `timeout`. */
  close(): void;
};

const FOLLOWED_STATUSES: Readonly<Record<HttpMethod, ReadonlySet<number>>> = {
  GET: new Set([301, 302, 307, 308]),
  HEAD: new Set(),
  // Only these statuses keep method and body.
  POST: new Set([307, 308]),
};
const DEFAULT_ACCEPT = 'application/json, text/markdown;q=0.9, text/plain;q=0.9, */*;q=0.5';
const MAX_SHOWN_URL_CHARS = 2_048;

/**
 * The client of one scan, and the only code that opens sockets to origins. Each connection goes
 * through the egress guard. Scans share no connections, resolved names or counts. The client
 * ignores cookies, Alt-Svc and the proxy settings of the environment.
 */
export function createProbeClient(options: ProbeClientOptions): ProbeClient {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const connections = openConnections(options, limits);
  const expire = () => connections.close({ reason: 'timeout', detail: 'the scan ran out of time' });
  if (options.signal?.aborted) expire();
  options.signal?.addEventListener('abort', expire, { once: true });

  const textShare = options.textBudget?.openShare(() =>
    connections.close({ reason: 'not-sent', detail: 'this scan holds more text than any other' }),
  );

  const largeBodies: LargeBodies = { hasRead: false }; // a scan reads only one large body

  async function request(probe: ProbeRequest): Promise<Observation<HttpData>> {
    const { capBytes, expectsJson = false } = probe;
    return sendWithinBudget(textShare, capBytes, (room) =>
      sendAndFollow(probe, new BodyReading({ expectsJson, largeBodies, room })),
    );
  }

  async function sendAndFollow(
    request: ProbeRequest,
    reading: BodyReading,
  ): Promise<Observation<HttpData>> {
    const { method, capBytes } = request;
    const startedAt = performance.now();
    const elapsedMs = () => Math.round(performance.now() - startedAt);
    const hops: Hop[] = [];
    const exchange = toExchange(request, { userAgent: options.userAgent, limits, reading });
    let url = toFirstUrl(request);
    // If the next hop fails, the redirect is the answer. Only then its body is decoded, because decoding costs time.
    let observePrevious: (() => Promise<AnswerObservation<HttpData>>) | null = null;

    for (;;) {
      const isRedirected = observePrevious !== null;
      // A redirect may lead to another origin, which gets none of the further requests.
      const isFirstOfMany = request.isFirstOfMany === true && !isRedirected;
      const hopRequest = { ...exchange, path: `${url.pathname}${url.search}`, isFirstOfMany };
      const outcome = await send(connections, url, hopRequest, isRedirected);
      if (outcome.kind === 'failure') {
        if (observePrevious) {
          return refuseRedirect(await observePrevious(), url.href, outcome.failure);
        }
        return { ok: false, ...outcome.failure, ms: elapsedMs() };
      }
      const { answer } = outcome;
      const context = { method, capBytes, url, redirects: [...hops], ms: elapsedMs() };
      const observe = () => observeAnswer(answer, context, reading);
      const location = findRedirect(answer, request);
      if (location === null) return await observe();
      const next = checkRedirect(location, url, request, { policy: options.policy, isRedirected });
      if ('detail' in next) {
        return refuseRedirect(await observe(), location.slice(0, MAX_SHOWN_URL_CHARS), next);
      }

      hops.push({ url: url.href, status: answer.status, location: next.href });
      const loop = describeLoop(hops, next, limits.maxRedirects);
      if (loop !== null)
        return { ok: false, reason: 'redirect-loop', detail: loop, ms: elapsedMs() };
      observePrevious = observe;
      url = next;
    }
  }

  return {
    request,
    resolveOrigin: (origin) => connections.resolveOrigin(origin),
    stats: () => toStats(connections.budget),
    close: () => {
      options.signal?.removeEventListener('abort', expire);
      connections.close({ reason: 'timeout', detail: 'the scan was ended' });
      textShare?.release();
    },
  };
}

function openConnections(options: ProbeClientOptions, limits: Limits): ScanConnections {
  return new ScanConnections({
    policy: options.policy,
    resolver: options.resolver ?? createSystemResolver(),
    connector: options.connect ?? dial,
    extraCa: options.extraCa ?? [],
    limits,
    processorTime: options.processorTime ?? readThreadTime,
  });
}

function toStats({ requests, bytes, sockets, roundTrips, handshakeMs }: ProbeStats): ProbeStats {
  return { requests, bytes, sockets, roundTrips, handshakeMs };
}

function toFirstUrl({ origin, path }: ProbeRequest): URL {
  // The path is appended and not resolved, because "//other.example/" is a path of this origin.
  if (!path.startsWith('/')) throw new TypeError('path must start with a slash');
  return withoutFragment(new URL(`${origin.url}${path}`));
}

/** Returns the part of a request that all its redirects repeat. */
function toExchange(
  request: ProbeRequest,
  context: { readonly userAgent: string; readonly limits: Limits; readonly reading: BodyReading },
): Omit<ExchangeRequest, 'path' | 'isFirstOfMany'> {
  const { userAgent, limits, reading } = context;
  const body = request.rpc?.body ?? request.body ?? null;
  return {
    method: request.method,
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
    reading,
  };
}

/** Throws OriginRefused if the guard refuses the first host. For a later host, returns a failure. */
async function send(
  connections: ScanConnections,
  url: URL,
  request: ExchangeRequest,
  isRedirected: boolean,
): Promise<ExchangeOutcome> {
  try {
    return await connections.exchange(toOrigin(url), request);
  } catch (error) {
    if (error instanceof ProbeFailure) return { kind: 'failure', failure: classifyFailure(error) };
    if (!isRedirected || !(error instanceof OriginRefused)) throw error;
    return { kind: 'failure', failure: { reason: 'redirect-refused', detail: error.message } };
  }
}

/** Returns the `Location` of a redirect that this request follows, or null for any other answer. */
function findRedirect(answer: ExchangeAnswer, { method, redirects }: ProbeRequest): string | null {
  if (redirects === 'none' || !FOLLOWED_STATUSES[method].has(answer.status)) return null;
  return answer.headers.find(([name]) => name === 'location')?.[1] ?? null;
}

/** Returns the next URL, or the reason why it is refused. */
function checkRedirect(
  location: string,
  from: URL,
  { origin, method, redirects }: ProbeRequest,
  { policy, isRedirected }: { readonly policy: OriginPolicy; readonly isRedirected: boolean },
): URL | { readonly reason: string; readonly detail: string } {
  try {
    const next = withoutFragment(resolveReference(location, from, policy));
    if (method === 'POST' && isRedirected) {
      return { reason: 'second-redirect', detail: 'a POST is sent to one other place at most' };
    }
    const canLeaveOrigin = redirects === 'any-guarded' && method !== 'POST';
    if (canLeaveOrigin || next.origin === origin.url) return next;
    return { reason: 'other-origin', detail: 'only redirects on the same origin are followed' };
  } catch (error) {
    if (error instanceof OriginRefused) return { reason: error.reason, detail: error.message };
    throw error;
  }
}

function describeLoop(hops: readonly Hop[], next: URL, maxRedirects: number): string | null {
  if (hops.some((hop) => hop.url === next.href)) {
    return `redirect ${hops.length} leads back to a URL that had redirected before`;
  }
  return hops.length > maxRedirects ? `more than ${maxRedirects} redirects` : null;
}

function withoutFragment(url: URL): URL {
  url.hash = '';
  return url;
}
