/** Further requests of the second wave: links, icons, and the first paid resource as browsers request it. */

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

/** Only the status of a link is judged, so a few bytes are enough. */
const LINK_CAP_BYTES = 4 * 1024;
/** Links are followed until a scan has sent this many of its 60 requests. The rest is for other requests. */
const MAX_REQUESTS_FOR_LINKS = 50;
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

/** Sends no POST. For a POST link, it reuses the answer to the same POST of a probe, or returns null. */
async function followLink(cache: RequestCache, link: PlannedLink): Promise<LinkObservation | null> {
  const { url, path, from, method, server } = link;
  const sentBefore = cache.findAnswer(method, path);
  if (sentBefore === undefined && (method === 'POST' || cache.size >= MAX_REQUESTS_FOR_LINKS)) {
    return null;
  }
  const answer = await (sentBefore ??
    cache.ask({
      method,
      path,
      capBytes: LINK_CAP_BYTES,
      accept: ACCEPT_JSON,
      redirects: 'same-origin',
    }));
  return { url, from, method, server, answer: withoutBody(answer) };
}

const EMPTY_BODY: PropertyDescriptor = { value: '', enumerable: true };

/** Removes the body, because a link is judged only by its status. */
function withoutBody(answer: HttpObservation): HttpObservation {
  if (!answer.ok) return answer;
  // A spread would read, and so decode, a long body.
  const members = Object.getOwnPropertyDescriptors(answer.data);
  const data: HttpData = Object.create(Object.prototype, { ...members, body: EMPTY_BODY });
  return { ...answer, data };
}

const ICON_CAP_BYTES = 64 * 1024;
const ACCEPT_ICON = 'image/*, */*;q=0.5';

/** Requests each icon by HEAD. */
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

/** Requests the icons again by GET if HEAD found no image. */
export async function askIconsByGet(
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

/** Some routers answer 404 to every HEAD. If HEAD got no answer, a GET would wait as long. */
function needsGet(answer: HttpObservation): boolean {
  return answer.ok && (answer.data.status < 200 || answer.data.status > 299);
}

/** True for status 200 with an image type. */
export function isImage(answer: HttpObservation & { readonly ok: true }): boolean {
  return (
    answer.data.status === 200 &&
    answer.data.headers.some(([name, value]) => name === 'content-type' && /^image\//i.test(value))
  );
}

const PAGE_CAP_BYTES = 64 * 1024;
const ACCEPT_PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/**
 * Requests the first paid resource as a script of another site does, and as a browser tab does. Returns
 * null if there is no paid GET.
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
      // Paywalls look for "Mozilla"; the other words name the scanner.
      headers: { 'user-agent': `Mozilla/5.0 (compatible; ${userAgent})` },
    }),
  ]);
  return { path, fetched, opened };
}
