import { createOracle, type Oracle } from '../buyers/create-oracle.ts';
import { OriginRefused } from '../guard/errors.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import type { PayableBy } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';
import { wayText } from '../parse/x402/more-sold.ts';
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
  /** "0.05", in whole units of the asset. */
  readonly maxPrice: string | null;
  readonly allowPrivate: boolean;
  readonly caller: Parameters<typeof scannerUserAgent>[0];
};

/** Requests a URL once and judges its answer. One that the guard refuses is a no-go, and opens no engine. */
export async function askUrl(
  { url, method, maxPrice, allowPrivate, caller }: UrlCall,
  open: () => PreflightEngine | Promise<PreflightEngine>,
): Promise<Preflight> {
  let client: ProbeClient | null = null;
  try {
    const policy = policyFor(url, allowPrivate);
    const request = { ...parsePreflightUrl(url, policy), method, maxPrice };
    const engine = await open();
    client = createProbeClient({ policy, userAgent: scannerUserAgent(caller) });
    return await preflightUrl(request, { ...engine, client });
  } catch (error) {
    if (error instanceof OriginRefused) return refusedPreflight(error);
    throw error;
  } finally {
    client?.close();
  }
}

/** Asks with an engine of this one call. */
export async function askUrlOnce(call: UrlCall): Promise<Preflight> {
  const opened: PreflightEngine[] = [];
  try {
    return await askUrl(call, async () => {
      const engine = { ...(await startEngine(null)), oracle: createOracle() };
      opened.push(engine);
      return engine;
    });
  } finally {
    await Promise.all(opened.flatMap(({ oracle, pool }) => [oracle.close(), pool.close()]));
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

const UNDECLARED = 'no document declares it, so neither agents nor this grade find it';
const WHO: Readonly<Record<PayableBy, string>> = {
  default: 'that default clients can pay',
  settings: 'that clients can pay with settings of their own',
  unknown: 'in schemes or on networks that no official client here has',
  nobody: 'that no official client can pay',
};
/** Answers to a GET by which a resource may still be sold by POST. */
const MAYBE_BY_POST: readonly ReasonCode[] = ['not_found', 'not_challenged'];

/**
 * Describes the answer of one URL in a sentence beside the report. The scan itself covers the resources
 * that the origin declares, which may not include this one.
 */
export async function describeNamedUrl(named: NamedUrl): Promise<string> {
  const { origin, path } = parsePreflightUrl(named.url, named.policy);
  const declared = named.report.payability?.filter((one) => one.path === path) ?? [];
  const ways = (named.report.otherWays ?? []).filter((one) => one.path === path);
  if (ways.length > 0 && declared.every(({ offers }) => offers.length === 0)) {
    return `${ways.map(wayText).join('; ')}: this is sold, and not over x402.`;
  }
  if (declared.length > 0) {
    return declared
      .map(
        ({ method, payableBy }) =>
          `${method} ${path}, which you named, asks for a payment ${WHO[payableBy]}.`,
      )
      .join(' ');
  }
  const { engine, oracle, policy } = named;
  const client = createProbeClient({ policy, userAgent: scannerUserAgent('command line') });
  try {
    const options = { ...engine, oracle, client };
    const ask = (method: 'GET' | 'POST') =>
      preflightUrl({ origin, path, method, maxPrice: null }, options);
    const got = await ask('GET');
    if (!got.reasons.some(({ code }) => MAYBE_BY_POST.includes(code))) {
      return sentence(`GET ${path}`, got);
    }
    const posted = await ask('POST');
    return isChallenge(posted) ? sentence(`POST ${path}`, posted) : sentence(`GET ${path}`, got);
  } finally {
    client.close();
  }
}

function isChallenge({ terms, reasons }: Preflight): boolean {
  return (
    terms !== null ||
    reasons.some(({ code }) => code === 'no_challenge' || code === 'other_protocol')
  );
}

function sentence(request: string, preflight: Preflight): string {
  const [first] = preflight.reasons;
  const evidence = first?.evidence ?? '';
  if (isChallenge(preflight)) {
    const payableBy = preflight.terms?.payableBy ?? 'nobody';
    const why = payableBy === 'default' || evidence === '' ? '' : ` (${evidence})`;
    return `${request}, which you named, asks for a payment ${WHO[payableBy]}${why}; ${UNDECLARED}.`;
  }
  if (first?.code === 'no_payment_asked') {
    return `${request}, which you named, answers without asking for a payment.`;
  }
  return `${request}, which you named, asks for no payment: ${evidence}.`;
}
