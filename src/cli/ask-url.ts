import { type Clients, openClients } from '../scanner/clients/open-clients.ts';
import { OriginRefused } from '../scanner/guard/failures.ts';
import type { Origin, OriginPolicy } from '../scanner/guard/origin.ts';
import type { HttpObservation } from '../scanner/model/observations.ts';
import type { PayableBy } from '../scanner/model/payability.ts';
import type { NamedPath, ReportRoute, ScanReport } from '../scanner/model/report.ts';
import { removeQuery } from '../scanner/parse/openapi/openapi-path.ts';
import { formatOtherWay } from '../scanner/parse/x402/other-protocol.ts';
import type { PreflightEngine } from '../scanner/preflight/judge-challenge.ts';
import { preflightUrl } from '../scanner/preflight/preflight.ts';
import {
  type Preflight,
  parsePreflightUrl,
  type ReasonCode,
  toRefused,
} from '../scanner/preflight/result.ts';
import { createProbeClient, type ProbeClient } from '../scanner/probe/client/client.ts';
import { scannerUserAgent } from '../scanner/probe/client/user-agent.ts';
import { describeUndeclaredRoute } from '../scanner/scan/readers.ts';
import { policyFor } from './allow-private.ts';
import { type Engine, startEngine } from './engine.ts';

export type UrlCall = {
  readonly url: string;
  /** Upper case. */
  readonly method: string;
  /** "0.05", in whole units of the asset; null allows any price. */
  readonly maxPrice: string | null;
  readonly allowPrivate: boolean;
  readonly caller: Parameters<typeof scannerUserAgent>[0];
};

/** Requests a URL once and judges the answer. If the guard refuses the URL, returns a no-go without an engine. */
export async function askUrl(
  { url, method, maxPrice, allowPrivate, caller }: UrlCall,
  getEngine: () => PreflightEngine | Promise<PreflightEngine>,
): Promise<Preflight> {
  let client: ProbeClient | null = null;
  try {
    const policy = policyFor(url, allowPrivate);
    const request = { ...parsePreflightUrl(url, policy), method, maxPrice };
    const engine = await getEngine();
    client = createProbeClient({ policy, userAgent: scannerUserAgent(caller) });
    return await preflightUrl(request, { ...engine, client });
  } catch (error) {
    if (error instanceof OriginRefused) return toRefused(error);
    throw error;
  } finally {
    client?.close();
  }
}

/** Opens an engine for this call, and closes it afterwards. */
export async function askUrlOnce(call: UrlCall): Promise<Preflight> {
  const engines: PreflightEngine[] = [];
  try {
    return await askUrl(call, async () => {
      const engine = { ...(await startEngine(null)), clients: openClients() };
      engines.push(engine);
      return engine;
    });
  } finally {
    await Promise.all(engines.flatMap(({ clients, pool }) => [clients.close(), pool.close()]));
  }
}

type NamedCall = {
  /** Absolute, with a path, and accepted by the guard. */
  readonly url: string;
  readonly policy: OriginPolicy;
  readonly engine: Engine;
  readonly clients: Clients;
  /** The method that the caller names; null sends a GET, and a POST only if the answer shows that one is needed. */
  readonly method: 'GET' | 'POST' | null;
  /** True if the caller says that the origin is its own (`--allow-private`). */
  readonly isOwn: boolean;
};

type NamedAnswer = NamedPath & {
  /** The paid route that the report does not cover; null if there is none. */
  readonly route: ReportRoute | null;
};
export type NamedReport = ScanReport & { readonly named?: NamedPath };

const UNDECLARED_NOTE =
  'no document declares it, so agents do not find it, and this grade does not cover it';
/** From the best to the worst. Each text completes "asks for a payment …". */
const BUYERS_TEXT: Readonly<Record<PayableBy, string>> = {
  default: 'that default clients can pay',
  settings: 'that clients can pay with settings of their own',
  unknown: 'in schemes or on networks that no official client here has',
  nobody: 'that no official client can pay',
};
/** After these answers to GET, the resource is requested by POST too, if a POST is allowed. */
const POST_FALLBACK_CODES: readonly ReasonCode[] = ['not_found', 'not_challenged'];

/** Adds the named URL's answer, which moves no grade, to the report. Requests a URL that the report does not cover. */
export async function addNamedUrl(report: ScanReport, call: NamedCall): Promise<NamedReport> {
  const { route, ...named } = await answerNamedUrl(report, call);
  const { routes } = report;
  if (route === null || routes === undefined || routes === null) return { ...report, named };
  // The documents do not declare this route, so there may be more of its kind.
  const paid = [...routes.paid, route];
  return { ...report, named, routes: { ...routes, paid, isComplete: false } };
}

async function answerNamedUrl(report: ScanReport, call: NamedCall): Promise<NamedAnswer> {
  const { origin, path } = parsePreflightUrl(call.url, call.policy);
  const coveredResources = report.payability?.filter((resource) => resource.path === path) ?? [];
  const otherWays = report.otherWays.filter((way) => way.path === path);
  const [firstWay] = otherWays;
  // A covered resource without offers answered 402, but not in a form that x402 clients can pay.
  if (firstWay !== undefined && coveredResources.every(({ offers }) => offers.length === 0)) {
    const words = `${otherWays.map(formatOtherWay).join('; ')}: this is sold, and not over x402.`;
    return { method: firstWay.method, path, status: 402, payableBy: null, words, route: null };
  }
  const [bestResource] = coveredResources.toSorted((a, b) => rankPayable(a) - rankPayable(b));
  if (bestResource !== undefined) {
    const sentences = coveredResources.map(
      ({ method, payableBy }) =>
        `${method} ${path}, which you named, asks for a payment ${BUYERS_TEXT[payableBy]}.`,
    );
    const { method, payableBy } = bestResource;
    return { method, path, status: 402, payableBy, words: sentences.join(' '), route: null };
  }
  return askUncovered(report, call, { origin, path });
}

/** Sends a POST only if the documents sell it, the caller asks for it, or the origin is the caller's own. */
async function askUncovered(
  report: ScanReport,
  { engine, clients, policy, method: namedMethod, isOwn }: NamedCall,
  { origin, path }: { readonly origin: Origin; readonly path: string },
): Promise<NamedAnswer> {
  const client = createProbeClient({ policy, userAgent: scannerUserAgent('command line') });
  const work = { pool: engine.pool, account: engine.pool.openScan() };
  let answer: HttpObservation | null = null;
  // The verdict of a preflight holds neither the status nor the description of the answer.
  const recordingClient = {
    resolveOrigin: (target: Origin) => client.resolveOrigin(target),
    request: async (request: Parameters<ProbeClient['request']>[0]) => {
      answer = await client.request(request);
      return answer;
    },
  };
  try {
    const askBy = async (method: 'GET' | 'POST') => {
      const options = { ...engine, clients, client: recordingClient };
      const preflight = await preflightUrl({ origin, path, method, maxPrice: null }, options);
      const mayNeedPost = preflight.reasons.some(({ code }) => POST_FALLBACK_CODES.includes(code));
      const data = answer?.ok ? answer.data : null;
      const route =
        preflight.terms === null || data === null
          ? null
          : await describeUndeclaredRoute({ method, path, answer: data }, work);
      const named = toNamedPath(method, path, data?.status ?? null, preflight);
      return { answer: { ...named, route }, mayNeedPost };
    };
    if (namedMethod === 'POST') return (await askBy('POST')).answer;
    const { answer: byGet, mayNeedPost } = await askBy('GET');
    if (!mayNeedPost || !(isOwn || isSoldByPost(report, path))) return byGet;
    const { answer: byPost } = await askBy('POST');
    // 404 and 405 mean that the path takes no POST. Other answers come from the method that was meant.
    return byPost.status === 404 || byPost.status === 405 ? byGet : byPost;
  } finally {
    client.close();
  }
}

/** 0 for a resource that default clients can pay; higher if fewer clients can. */
function rankPayable({ payableBy }: { readonly payableBy: PayableBy }): number {
  return Object.keys(BUYERS_TEXT).indexOf(payableBy);
}

function isSoldByPost({ routes }: ScanReport, path: string): boolean {
  const pathWithoutQuery = removeQuery(path);
  return (routes?.paid ?? []).some(
    (route) =>
      (route.method === null || route.method === 'POST') &&
      [route.path, route.template].includes(pathWithoutQuery),
  );
}

function toNamedPath(
  method: 'GET' | 'POST',
  path: string,
  status: number | null,
  preflight: Preflight,
): NamedPath {
  const is402 = isAnswer402(preflight);
  const payableBy = is402 ? (preflight.terms?.payableBy ?? 'nobody') : null;
  const isRefusedPost = method === 'POST' && !is402 && status !== null && status >= 400;
  const words = isRefusedPost
    ? `POST ${path}, which you named, asks for no payment: POST answered ${status} to {}.`
    : toSentence(`${method} ${path}`, preflight);
  return { method, path, status, payableBy, words };
}

function isAnswer402({ terms, reasons }: Preflight): boolean {
  return (
    terms !== null ||
    reasons.some(({ code }) => code === 'no_challenge' || code === 'other_protocol')
  );
}

function toSentence(request: string, preflight: Preflight): string {
  const [first] = preflight.reasons;
  const evidence = first?.evidence ?? '';
  if (isAnswer402(preflight)) {
    const payableBy = preflight.terms?.payableBy ?? 'nobody';
    const why = payableBy === 'default' || evidence === '' ? '' : ` (${evidence})`;
    return `${request}, which you named, asks for a payment ${BUYERS_TEXT[payableBy]}${why}; ${UNDECLARED_NOTE}.`;
  }
  if (first?.code === 'no_payment_asked') {
    return `${request}, which you named, answers without asking for a payment.`;
  }
  return `${request}, which you named, asks for no payment: ${evidence}.`;
}
