/** Preflights of a service: at most one request a host and window, everything else from what is stored. */
import { OriginRefused } from '../guard/errors.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import { type Asked, askedUrl, notAsked, refusedPreflight } from '../preflight/asked.ts';
import type { Preflight } from '../preflight/result.ts';
import type { Store } from '../store/contract/store.ts';
import { findFreshReport } from './fresh-report.ts';

/** Sends one GET, and judges the answer. */
export type AskSeller = (asked: Asked) => Promise<Preflight>;

export type PreflightCall = {
  readonly url: string;
  readonly method: string;
  readonly maxPrice: string | null;
};

export type PreflightDesk = (call: PreflightCall) => Promise<Preflight>;

export type PreflightDeskOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly askSeller: AskSeller;
};

/** Calls are free: no host is asked more often for the sake of anonymous callers. */
const COOL_DOWN_MS = 5_000;

export function createPreflightDesk({
  store,
  policy,
  askSeller,
}: PreflightDeskOptions): PreflightDesk {
  async function stored(asked: Asked, why: string): Promise<Preflight> {
    const { host, url } = asked.origin;
    const fresh = await findFreshReport(store, host);
    const payability = fresh?.origin === url ? fresh.report.payability : null;
    // Loaded with the first of them: it brings what reads terms.
    const { storedPreflight } = await import('../preflight/stored-preflight.ts');
    return storedPreflight(asked, payability) ?? notAsked(why);
  }

  return async ({ url, method, maxPrice }) => {
    let asked: Asked;
    try {
      asked = { ...askedUrl(url, policy), method, maxPrice };
    } catch (error) {
      if (error instanceof OriginRefused) return refusedPreflight(error);
      throw error;
    }
    const { host } = asked.origin;
    if (method !== 'GET') {
      return stored(asked, `${method} is not sent, and no report of ${host} tells of it`);
    }
    const { count } = await store.limits.hit(`preflight of ${host}`, COOL_DOWN_MS);
    if (count === 1) return askSeller(asked);
    return stored(asked, `${host} was asked seconds ago: ask again in ${COOL_DOWN_MS / 1_000} s`);
  };
}
