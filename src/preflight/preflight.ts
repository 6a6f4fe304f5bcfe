import { setTimeout as pause } from 'node:timers/promises';
import { OriginRefused } from '../guard/errors.ts';
import type { Origin } from '../guard/origin.ts';
import type { Address, Resolution } from '../guard/resolve.ts';
import type { HttpData, HttpMethod } from '../model/observation.ts';
import type { ProbeClient, ProbeRequest } from '../probe/client/client.ts';
import { type Asked, notAsked, refusedPreflight } from './asked.ts';
import { type Judges, judgeChallenge } from './judge-challenge.ts';
import { type Preflight, type PreflightReason, toPreflight } from './result.ts';
import { verdictOn } from './verdict.ts';

/** Serves one URL; the caller closes it. */
type Client = Pick<ProbeClient, 'check' | 'request'>;

export type PreflightOptions = Judges & { readonly client: Client };

export type StrangersOptions = PreflightOptions & {
  /** Limits the DNS lookup, and then the answer. */
  readonly answerWithinMs: number;
  /** Returns false when these addresses must not be dialled. */
  readonly admit: (addresses: readonly Address[]) => Promise<boolean>;
};

const CAP_BYTES = 64 * 1024;
const ACCEPT = 'application/json, */*;q=0.5';

/**
 * Requests one URL once, without a payment, and judges the answer, for the operator of this process: GET
 * redirects are followed within the origin, POST sends an empty object. Rejects when the failure is ours.
 */
export async function preflightUrl(
  asked: Asked,
  { client, ...judges }: PreflightOptions,
): Promise<Preflight> {
  const { origin, path, method } = asked;
  if (method !== 'GET' && method !== 'POST') {
    return notAsked(`${method} ${path}: this method is not sent without a payment`);
  }
  const resolved = await client.check(origin);
  if (resolved.kind === 'blocked') return refusedPreflight(new OriginRefused('blocked_ip'));
  if (resolved.kind === 'our-fault') return resolverFailed(resolved);
  const sent =
    method === 'GET'
      ? ({ method, redirects: 'same-origin' } as const)
      : ({ method, redirects: 'none', body: '{}' } as const);
  return askOnce(asked, sent, { client, ...judges });
}

/**
 * Serves anonymous callers: one GET, and the same answer for all names without a public address, so that
 * nobody can query our DNS through it. Null when `admit` refuses.
 */
export async function preflightForStranger(
  asked: Asked & { readonly method: 'GET' },
  { answerWithinMs, admit, client, ...judges }: StrangersOptions,
): Promise<Preflight | null> {
  const { origin, method } = asked;
  const resolved = await resolveForStranger(origin, { answerWithinMs, client });
  if ('verdict' in resolved) return resolved;
  if (!(await admit(resolved.addresses))) return null;
  const sent = { method, redirects: 'none', timeoutMs: answerWithinMs } as const;
  return askOnce(asked, sent, { client, ...judges });
}

/** The addresses of a name, or the answer to a caller whose name gave none. */
export async function resolveForStranger(
  origin: Origin,
  { answerWithinMs, client }: Pick<StrangersOptions, 'answerWithinMs' | 'client'>,
): Promise<Extract<Resolution, { kind: 'addresses' }> | Preflight> {
  const resolved = await withinTime(client.check(origin), answerWithinMs);
  if (resolved?.kind === 'addresses') return resolved;
  if (resolved?.kind === 'our-fault') return resolverFailed(resolved);
  const evidence = `${origin.host}: its name gave no public address in time`;
  return toPreflight([{ code: 'unreachable', evidence }]);
}

type Sent = Pick<ProbeRequest, 'redirects' | 'body' | 'timeoutMs'> & {
  readonly method: 'GET' | 'POST';
};

/** Sends one request and judges the answer. */
export async function askOnce(
  { origin, path, maxPrice }: Asked,
  sent: Sent,
  { client, ...judges }: PreflightOptions,
): Promise<Preflight> {
  const { method } = sent;
  const seen = await client.request({
    ...sent,
    origin,
    path,
    accept: ACCEPT,
    capBytes: CAP_BYTES,
  });
  if (!seen.ok) {
    const code = seen.reason === 'timeout' ? 'no_answer' : 'unreachable';
    return toPreflight([{ code, evidence: `${method} ${path}: ${seen.reason}, ${seen.detail}` }]);
  }
  if (seen.data.status !== 402) return toPreflight([withoutPrice(method, path, seen.data)]);
  const judged = await judgeChallenge({ origin, method }, seen.data, judges);
  return verdictOn(judged, { origin, maxPrice });
}

function resolverFailed({ detail }: Extract<Resolution, { kind: 'our-fault' }>): Preflight {
  return notAsked(`the resolver here does not answer: ${detail}`);
}

/** Null when the time ran out first. */
async function withinTime<T>(work: Promise<T>, ms: number): Promise<T | null> {
  const ended = new AbortController();
  try {
    return await Promise.race([work, pause(ms, null, { signal: ended.signal })]);
  } finally {
    ended.abort();
  }
}

function withoutPrice(method: HttpMethod, path: string, { status }: HttpData): PreflightReason {
  const evidence = `${method} ${path}: status ${status}, not 402`;
  if (status >= 200 && status < 300) return { code: 'no_payment_asked', evidence };
  if (status === 404 || status === 410) return { code: 'not_found', evidence };
  return { code: status >= 500 ? 'server_error' : 'not_challenged', evidence };
}
