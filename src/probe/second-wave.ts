/** Requests of the second wave beside paid resources: links, icons, and the first resource as browsers ask for it. */

import { BROWSER_ORIGIN, type HttpData } from '../model/observation.ts';
import type {
  BrowserAnswers,
  HttpObservation,
  IconSet,
  LinkObservation,
  LinkSet,
  PathAnswer,
} from '../model/observations.ts';
import type { RequestCache } from './client/request-cache.ts';
import type { PlannedResource } from './plan/declared-requests.ts';
import type { IconPlan, LinkPlan, PlannedLink } from './plan/find-links.ts';

/** A link is alive or dead by its status; the first bytes are more than enough. */
const LINK_CAP_BYTES = 4 * 1024;
/** Links that are followed, of the 60 requests of a scan; the rest is for what the answers ask for. */
const REQUESTS_BEFORE_LINKS_END = 50;
const ACCEPT_JSON = 'application/json, */*;q=0.5';

export async function followLinks(cache: RequestCache, plan: LinkPlan): Promise<LinkSet> {
  const checked = await Promise.all(plan.links.map((link) => followLink(cache, link)));
  return {
    checked: checked.filter((link) => link !== null),
    found: plan.found,
    otherHosts: plan.otherHosts,
    documents: plan.documents,
  };
}

/** A link that only POST opens is never posted to: the probe of a paid resource tells, or nothing. */
async function followLink(cache: RequestCache, link: PlannedLink): Promise<LinkObservation | null> {
  const { url, path, from, method, server } = link;
  const known = cache.known(method, path);
  if (known === undefined && (method === 'POST' || cache.size >= REQUESTS_BEFORE_LINKS_END)) {
    return null;
  }
  const answer = await (known ??
    cache.ask({
      method,
      path,
      capBytes: LINK_CAP_BYTES,
      accept: ACCEPT_JSON,
      redirects: 'same-origin',
    }));
  return { url, from, method, server, answer: withoutBody(answer) };
}

const EMPTY: PropertyDescriptor = { value: '', enumerable: true };

/** A link is judged only by its status; documents need not be kept twice. */
function withoutBody(answer: HttpObservation): HttpObservation {
  if (!answer.ok) return answer;
  // A spread would read, and so decode, a long body.
  const members = Object.getOwnPropertyDescriptors(answer.data);
  const data: HttpData = Object.create(Object.prototype, { ...members, body: EMPTY });
  return { ...answer, data };
}

const ICON_CAP_BYTES = 64 * 1024;
const ACCEPT_ICON = 'image/*, */*;q=0.5';

/** Asks by HEAD first. */
export async function askIcons(
  cache: RequestCache,
  plan: IconPlan,
): Promise<readonly PathAnswer[]> {
  return Promise.all(
    plan.paths.map(async (path) => ({
      path,
      answer: await cache.ask({
        method: 'HEAD',
        path,
        capBytes: ICON_CAP_BYTES,
        accept: ACCEPT_ICON,
        redirects: 'none',
      }),
    })),
  );
}

/** Asks again by GET if HEAD found no image. */
export async function settleIcons(
  cache: RequestCache,
  plan: IconPlan,
  answers: readonly PathAnswer[],
): Promise<IconSet> {
  const hasImage = answers.some(({ answer }) => answer.ok && isImage(answer));
  const checked = await Promise.all(
    answers.map(async ({ path, answer }) => {
      if (hasImage || !needsGet(answer)) return { path, answer };
      const second = await cache.ask({
        method: 'GET',
        path,
        capBytes: ICON_CAP_BYTES,
        accept: ACCEPT_ICON,
        redirects: 'same-origin',
      });
      return { path, answer: second };
    }),
  );
  return { checked, otherHosts: plan.otherHosts, inline: plan.inline };
}

/** Some routers answer 404 to every HEAD. Where no answer came at all, a GET would wait as long. */
function needsGet(answer: HttpObservation): boolean {
  return answer.ok && (answer.data.status < 200 || answer.data.status > 299);
}

/** An icon: 200 with an image type. */
export function isImage(answer: HttpObservation & { readonly ok: true }): boolean {
  return (
    answer.data.status === 200 &&
    answer.data.headers.some(([name, value]) => name === 'content-type' && /^image\//i.test(value))
  );
}

const PAGE_CAP_BYTES = 64 * 1024;
const ACCEPT_PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/**
 * Asks for the first paid resource as a script of another site does, and as a tab does. Null if no
 * document names a paid GET: a script would not ask for anything else by GET.
 */
export async function askAsBrowser(
  cache: RequestCache,
  resources: readonly PlannedResource[],
  userAgent: string,
): Promise<BrowserAnswers | null> {
  const paid = resources.filter(({ method }) => method !== 'POST');
  const first = paid.find(({ declaredPaid }) => declaredPaid) ?? paid[0];
  if (first === undefined) return null;
  const { path } = first;
  const get = { method: 'GET', path, capBytes: PAGE_CAP_BYTES, redirects: 'same-origin' } as const;
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
