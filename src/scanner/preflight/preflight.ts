import { OriginRefused, OurFault } from '../guard/failures.ts';
import { allowOrigin, DEFAULT_POLICY, type Origin, parseOrigin } from '../guard/origin.ts';
import { readMembers } from '../model/json.ts';
import type { FailedObservation, HttpData, HttpMethod } from '../model/observation.ts';
import type { ProbeClient, ProbeRequest } from '../probe/client/client.ts';
import { ACCEPT_JSON } from '../probe/client/request-cache.ts';
import { runOnWorker } from '../scan/origin-work.ts';
import { EMPTY_OBSERVATIONS } from '../scan/scanner.ts';
import { judgeChallenge, type PreflightEngine, TERMS } from './judge-challenge.ts';
import { type BuyerTerms, decideForBuyer } from './preflight-verdict.ts';
import type { DeclaringDocuments } from './read-terms.ts';
import {
  type Preflight,
  type PreflightReason,
  type PreflightRequest,
  toNotAsked,
  toPreflight,
  toRefused,
} from './result.ts';

/** The caller closes the client. */
type Client = Pick<ProbeClient, 'resolveOrigin' | 'request'>;

type PreflightDeps = PreflightEngine & { readonly client: Client };

type StrangerOptions = PreflightDeps & {
  /** Limit of the answer. The name lookup has limits of its own. */
  readonly answerWithinMs: number;
};

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends one request without a payment, and judges the answer, for the operator of this process. A GET follows redirects
 * within the origin, and a POST sends an empty object. Rejects if the fault is ours, with OurFault if no name server
 * answers.
 */
export async function preflightUrl(
  request: PreflightRequest,
  deps: PreflightDeps,
): Promise<Preflight> {
  const { origin, path, method } = request;
  if (method !== 'GET' && method !== 'POST') {
    return toNotAsked(`${method} ${path}: this method is not sent without a payment`);
  }
  const resolved = await deps.client.resolveOrigin(origin);
  if (resolved.kind === 'blocked') return toRefused(new OriginRefused('blocked_ip'));
  if (resolved.kind === 'our-fault') throw new OurFault(resolved.detail);
  const settings =
    method === 'GET'
      ? ({ method, redirects: 'same-origin' } as const)
      : ({ method, redirects: 'none', body: '{}' } as const);
  return askAndJudge(request, settings, deps);
}

/**
 * Serves anonymous callers with one GET. All names without a public address get the same answer. Nobody can then use us
 * to find private names.
 */
export async function preflightForStranger(
  request: PreflightRequest & { readonly method: 'GET' },
  options: StrangerOptions,
): Promise<Preflight> {
  const { origin, method } = request;
  const unresolved = await answerUnresolved(origin, options.client);
  if (unresolved !== null) return unresolved;
  const settings = { method, redirects: 'none', timeoutMs: options.answerWithinMs } as const;
  return askAndJudge(request, settings, options);
}

/** Resolves to the answer for a name without a public address; null if the name has one. */
async function answerUnresolved(
  origin: Origin,
  client: Pick<Client, 'resolveOrigin'>,
): Promise<Preflight | null> {
  const resolved = await client.resolveOrigin(origin);
  if (resolved.kind === 'addresses') return null;
  if (resolved.kind === 'our-fault') {
    return toNotAsked(`the resolver here does not answer: ${resolved.detail}`);
  }
  const evidence = `${origin.host}: its name gave no public address in time`;
  return toPreflight([{ code: 'unreachable', evidence }]);
}

type ProbeSettings = Pick<ProbeRequest, 'redirects' | 'body' | 'timeoutMs'> & {
  readonly method: 'GET' | 'POST';
};

/** Sends one request and judges the answer. */
async function askAndJudge(
  { origin, path, maxPrice }: PreflightRequest,
  settings: ProbeSettings,
  deps: PreflightDeps,
): Promise<Preflight> {
  const { method } = settings;
  const answer = await deps.client.request({
    ...settings,
    origin,
    path,
    accept: ACCEPT_JSON,
    capBytes: MAX_ANSWER_BYTES,
  });
  if (!answer.ok) return toUnanswered(`${method} ${path}`, answer);
  if (answer.data.status !== 402) return toPreflight([toStatusReason(method, path, answer.data)]);
  const judgement = await judgeChallenge({ origin, method }, answer.data, deps);
  return decideForBuyer(judgement, { origin, maxPrice });
}

function toUnanswered(request: string, { reason, detail }: FailedObservation): Preflight {
  const code = reason === 'timeout' ? 'no_answer' : 'unreachable';
  return toPreflight([{ code, evidence: `${request}: ${reason}, ${detail}` }]);
}

const SERVER_HINT = 'it fails before it asks for a payment';
/** Tells a caller what a status that is not 402 means, and what to change. */
const HINTS_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'it checks its input before payment, so name the whole address with its query',
  401: 'it asks for a login',
  403: 'it refuses this caller, as firewalls do',
  404: 'it is not there, or takes another method',
  405: 'it takes another method, so name the one that you will pay for',
  422: 'it checks its input before payment, so name the whole address with its query',
  429: 'it limits callers, so ask again later',
};

function toStatusReason(method: HttpMethod, path: string, { status }: HttpData): PreflightReason {
  const hint = status >= 500 ? SERVER_HINT : (HINTS_BY_STATUS[status] ?? null);
  const evidence = `${method} ${path}: status ${status}, not 402${hint === null ? '' : `; ${hint}`}`;
  if (status >= 200 && status < 300) return { code: 'no_payment_asked', evidence };
  if (status === 404 || status === 410) return { code: 'not_found', evidence };
  return { code: status >= 500 ? 'server_error' : 'not_challenged', evidence };
}

export type HostPreflight = {
  /** The path that was requested; null if the documents declare no paid GET. */
  readonly path: string | null;
  readonly preflight: Preflight;
};

const NO_PAID_GET =
  'neither /.well-known/x402 nor /openapi.json names something that a GET buys: paste the address of something that the host sells';

/** A scan reads up to twice as many bytes of OpenAPI. A preflight reads fewer, because it is free. */
const DOCUMENTS = [
  { name: 'manifest', path: '/.well-known/x402', capBytes: 256 * 1_024 },
  { name: 'openapi', path: '/openapi.json', capBytes: 1_024 * 1_024 },
] as const;

/**
 * Serves anonymous callers who name only a host. Reads the manifest and, if it declares no paid GET, the OpenAPI
 * document. Then sends one request to the first paid GET.
 */
export async function preflightHost(
  origin: Origin,
  options: StrangerOptions,
): Promise<HostPreflight> {
  const { answerWithinMs, client, pool } = options;
  const unresolved = await answerUnresolved(origin, client);
  if (unresolved !== null) return { path: null, preflight: unresolved };
  const work = { pool, account: pool.openScan() };
  const settings = { method: 'GET', redirects: 'none', timeoutMs: answerWithinMs } as const;
  const { manifest, openapi } = EMPTY_OBSERVATIONS;
  let documents: DeclaringDocuments = { origin, manifest, openapi };
  let path: string | null = null;
  for (const { name, ...document } of DOCUMENTS) {
    const answer = await client.request({ ...settings, ...document, origin, accept: ACCEPT_JSON });
    if (!answer.ok) return { path: null, preflight: toUnanswered(`GET ${document.path}`, answer) };
    documents = { ...documents, [name]: answer };
    const paidGet = await runOnWorker(work, 'origin', TERMS, 'findPaidGet', documents);
    // If the worker exceeds its limits, the documents count as naming no paid GET.
    path = paidGet.ok ? paidGet.output : null;
    if (path !== null) break;
  }
  if (path === null) return { path, preflight: toNotAsked(NO_PAID_GET) };
  const request = { origin, path, method: 'GET', maxPrice: null };
  return { path, preflight: await askAndJudge(request, settings, options) };
}

const UNKNOWN_ORIGIN = 'https://unknown.invalid';
const MCP_URL = /^mcp:\/\//i;

/**
 * Judges a challenge that the caller supplies, and sends no request. `url` is the source of the challenge. If `url` is
 * null, `resource.url` counts as the source. Rejects with OriginRefused for an invalid URL, and if the fault is ours.
 */
export async function preflightInHand(
  challenge: object,
  url: string | null,
  buyer: Omit<BuyerTerms, 'origin'>,
  engine: PreflightEngine,
): Promise<Preflight> {
  const resourceUrl = readResourceUrl(challenge);
  const originText = toOriginText(url ?? resourceUrl);
  // No request is sent, so an address that the guard would refuse does no harm.
  const origin = parseOrigin(originText, allowOrigin(originText, DEFAULT_POLICY));
  const answer = toAnswer(challenge, url ?? UNKNOWN_ORIGIN);
  const request = { origin, method: 'GET', isTool: MCP_URL.test(resourceUrl) } as const;
  const judgement = await judgeChallenge(request, answer, engine);
  return decideForBuyer(judgement, { ...buyer, origin: url === null ? null : origin });
}

/** The URL "mcp://api.example.com/tools/x" names its server, and "mcp://tool/x" does not. */
function toOriginText(url: string): string {
  const webUrl = url.replace(MCP_URL, 'https://');
  const parsed = /^https?:\/\//i.test(webUrl) ? URL.parse(webUrl) : null;
  return parsed === null || parsed.hostname === 'tool' ? UNKNOWN_ORIGIN : parsed.origin;
}

/** Puts a challenge of version 1 into the body, and any other challenge into the header. */
function toAnswer(challenge: object, url: string): HttpData {
  const text = JSON.stringify(challenge);
  const isHeader = !('x402Version' in challenge) || challenge.x402Version !== 1;
  return {
    url,
    method: 'GET',
    status: 402,
    headers: isHeader ? [['payment-required', Buffer.from(text).toString('base64')]] : [],
    body: isHeader ? '{}' : text,
    firstByteMs: 0,
    redirects: [],
  };
}

function readResourceUrl(challenge: object): string {
  const { resource } = readMembers(challenge);
  const { url } = readMembers(resource);
  return typeof url === 'string' ? url : UNKNOWN_ORIGIN;
}
