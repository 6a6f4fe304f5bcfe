/** The first paid resource as web pages reach it: by a script of another site, and opened in a tab. */
import { BROWSER_ORIGIN, type BrowserAnswers } from '../model/observations.ts';
import type { RequestCache } from './client/request-cache.ts';
import type { PlannedResource } from './plan/planned-resource.ts';

const CAP_BYTES = 64 * 1024;
const ACCEPT_JSON = 'application/json, */*;q=0.5';
const ACCEPT_PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Null where no document names a paid GET: a script would not ask for anything else by GET. */
export async function askAsBrowser(
  cache: RequestCache,
  resources: readonly PlannedResource[],
  userAgent: string,
): Promise<BrowserAnswers | null> {
  const paid = resources.filter(({ method }) => method !== 'POST');
  const first = paid.find(({ declaredPaid }) => declaredPaid) ?? paid[0];
  if (first === undefined) return null;
  const { path } = first;
  const get = { method: 'GET', path, capBytes: CAP_BYTES, redirects: 'same-origin' } as const;
  const [fetched, opened] = await Promise.all([
    cache.ask({ ...get, accept: ACCEPT_JSON, headers: { origin: BROWSER_ORIGIN } }),
    cache.ask({
      ...get,
      accept: ACCEPT_PAGE,
      // Paywalls look for the word; the rest says who asks.
      headers: { 'user-agent': `Mozilla/5.0 (compatible; ${userAgent})` },
    }),
  ]);
  return { path, fetched, opened };
}
