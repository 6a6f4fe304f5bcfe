import { createOracle, type Oracle } from '../buyers/create-oracle.ts';
import { OriginRefused } from '../guard/errors.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import type { PayableBy } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';
import { formatOtherWay } from '../parse/x402/more-sold.ts';
import type { PreflightEngine } from '../preflight/judge-challenge.ts';
import { preflightUrl } from '../preflight/preflight.ts';
import { parsePreflightUrl, refusedPreflight } from '../preflight/preflight-request.ts';
import type { Preflight, ReasonCode } from '../preflight/result.ts';
import { createProbeClient, type ProbeClient } from '../probe/client/client.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';
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
    if (error instanceof OriginRefused) return refusedPreflight(error);
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
      const engine = { ...(await startEngine(null)), oracle: createOracle() };
      engines.push(engine);
      return engine;
    });
  } finally {
    await Promise.all(engines.flatMap(({ oracle, pool }) => [oracle.close(), pool.close()]));
  }
}

export type NamedUrl = {
  /** Absolute, with a path, and accepted by the guard. */
  readonly url: string;
  readonly policy: OriginPolicy;
  readonly engine: Engine;
  readonly oracle: Oracle;
  readonly report: ScanReport;
};

const UNDECLARED_NOTE =
  'no document declares it, so agents do not find it, and this grade does not cover it';
/** Each text completes "asks for a payment …". */
const BUYERS_TEXT: Readonly<Record<PayableBy, string>> = {
  default: 'that default clients can pay',
  settings: 'that clients can pay with settings of their own',
  unknown: 'in schemes or on networks that no official client here has',
  nobody: 'that no official client can pay',
};
/** After these answers to GET, the resource is requested by POST too. */
const POST_FALLBACK_CODES: readonly ReasonCode[] = ['not_found', 'not_challenged'];

/**
 * Says in one sentence how the named URL can be paid. The report may not cover this URL, because a scan
 * requests only resources that the origin declares.
 */
export async function describeNamedUrl(named: NamedUrl): Promise<string> {
  const { origin, path } = parsePreflightUrl(named.url, named.policy);
  const resources = named.report.payability?.filter((resource) => resource.path === path) ?? [];
  const ways = (named.report.otherWays ?? []).filter((way) => way.path === path);
  if (ways.length > 0 && resources.every(({ offers }) => offers.length === 0)) {
    return `${ways.map(formatOtherWay).join('; ')}: this is sold, and not over x402.`;
  }
  if (resources.length > 0) {
    return resources
      .map(
        ({ method, payableBy }) =>
          `${method} ${path}, which you named, asks for a payment ${BUYERS_TEXT[payableBy]}.`,
      )
      .join(' ');
  }
  const { engine, oracle, policy } = named;
  const client = createProbeClient({ policy, userAgent: scannerUserAgent('command line') });
  try {
    const options = { ...engine, oracle, client };
    const preflightBy = (method: 'GET' | 'POST') =>
      preflightUrl({ origin, path, method, maxPrice: null }, options);
    const byGet = await preflightBy('GET');
    if (!byGet.reasons.some(({ code }) => POST_FALLBACK_CODES.includes(code))) {
      return toSentence(`GET ${path}`, byGet);
    }
    const byPost = await preflightBy('POST');
    return isAnswer402(byPost)
      ? toSentence(`POST ${path}`, byPost)
      : toSentence(`GET ${path}`, byGet);
  } finally {
    client.close();
  }
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
