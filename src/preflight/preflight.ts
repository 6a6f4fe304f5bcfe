/** Asks one URL once, without a payment, and judges what it answers. */

import { OriginRefused } from '../guard/errors.ts';
import type { HttpData, HttpMethod } from '../model/observation.ts';
import type { ProbeClient } from '../probe/client/client.ts';
import { type Asked, notAsked, refusedPreflight } from './asked.ts';
import { type Judges, judgeChallenge } from './judge-challenge.ts';
import { type Preflight, type PreflightReason, preflightOf } from './result.ts';
import { verdictOn } from './verdict.ts';

export type PreflightOptions = Judges & {
  /** A client for this one URL; closed by the caller. */
  readonly client: Pick<ProbeClient, 'check' | 'request'>;
  /** Whether a POST of `{}` may be sent; else POST resources are `not_asked`. */
  readonly mayPost: boolean;
  /** Whether a redirect on the same origin is followed; else the one request is all there is. */
  readonly mayFollow: boolean;
  /** Ends the wait for an answer (`no_answer`); give it to the client as well. */
  readonly deadline?: AbortSignal;
};

const CAP_BYTES = 64 * 1024;
const ACCEPT = 'application/json, */*;q=0.5';

/** Rejects where the failure is ours. */
export async function preflightUrl(asked: Asked, options: PreflightOptions): Promise<Preflight> {
  const { origin, path, method, maxPrice } = asked;
  const isAsked = method === 'GET' || (method === 'POST' && options.mayPost);
  if (!isAsked) return notAsked(`${method} ${path}: this method is not sent without a payment`);
  const resolved = await before(options.deadline, options.client.check(origin));
  if (resolved === 'late') {
    return preflightOf([{ code: 'no_answer', evidence: `${origin.host}: its name was not found` }]);
  }
  if (resolved.kind === 'blocked') return refusedPreflight(new OriginRefused('blocked_ip'));
  if (resolved.kind === 'our-fault') {
    return notAsked(`the resolver here does not answer: ${resolved.detail}`);
  }
  const seen = await options.client.request({
    origin,
    method,
    path,
    ...(method === 'POST' ? { body: '{}' as const } : {}),
    accept: ACCEPT,
    capBytes: CAP_BYTES,
    redirects: method === 'GET' && options.mayFollow ? 'same-origin' : 'none',
  });
  if (!seen.ok) {
    const code = seen.reason === 'timeout' ? 'no_answer' : 'unreachable';
    return preflightOf([{ code, evidence: `${method} ${path}: ${seen.reason}, ${seen.detail}` }]);
  }
  if (seen.data.status !== 402) return preflightOf([withoutPrice(method, path, seen.data)]);
  const judged = await judgeChallenge({ origin, method }, seen.data, options);
  return verdictOn(judged, { origin, maxPrice });
}

function withoutPrice(method: HttpMethod, path: string, { status }: HttpData): PreflightReason {
  const evidence = `${method} ${path}: status ${status}, not 402`;
  if (status >= 200 && status < 300) return { code: 'no_payment_asked', evidence };
  if (status === 404 || status === 410) return { code: 'not_found', evidence };
  return { code: status >= 500 ? 'server_error' : 'not_challenged', evidence };
}

function before<T>(deadline: AbortSignal | undefined, work: Promise<T>): Promise<T | 'late'> {
  if (deadline === undefined) return work;
  const late = new Promise<'late'>((resolve) => {
    if (deadline.aborted) resolve('late');
    deadline.addEventListener('abort', () => resolve('late'), { once: true });
  });
  return Promise.race([work, late]);
}
