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
import { headerValues } from '../parse/text/http-header.ts';
import { ACCEPT_JSON, type RequestCache } from './client/request-cache.ts';
import type { PlannedResource } from './plan/declared-requests.ts';
import type { LinkPlan, PlannedLink } from './plan/find-links.ts';
import type { IconPlan } from './plan/plan.ts';

/** Only the status of a link is judged, so a few bytes are enough. */
const LINK_REQUEST = {
  capBytes: 4 * 1024,
  accept: ACCEPT_JSON,
  redirects: 'same-origin',
} as const;
/** No link is followed after this many requests of the scan, because other requests need the rest. */
const MAX_REQUESTS_FOR_LINKS = 50;

export async function followLinks(cache: RequestCache, plan: LinkPlan): Promise<LinkSet> {
  const { links, ...counts } = plan;
  const checked = await Promise.all(links.map((link) => followLink(cache, link)));
  return { checked: checked.filter((link) => link !== null), ...counts };
}

/** Sends no POST. For a POST link, it reuses the answer to the same POST of a probe, or returns null. */
async function followLink(cache: RequestCache, link: PlannedLink): Promise<LinkObservation | null> {
  const { url, path, from, method, server } = link;
  const earlierAnswer = cache.findAnswer(method, path);
  if (earlierAnswer === undefined && (method === 'POST' || cache.size >= MAX_REQUESTS_FOR_LINKS)) {
    return null;
  }
  const answer = await (earlierAnswer ?? cache.ask({ method, path, ...LINK_REQUEST }));
  return { url, from, method, server, answer: removeBody(answer) };
}

const EMPTY_BODY: PropertyDescriptor = { value: '', enumerable: true };

/** Removes the body, because a link is judged only by its status. */
function removeBody(answer: HttpObservation): HttpObservation {
  if (!answer.ok) return answer;
  // A spread would read, and so decode, a long body.
  const members = Object.getOwnPropertyDescriptors(answer.data);
  const data: HttpData = Object.create(Object.prototype, { ...members, body: EMPTY_BODY });
  return { ...answer, data };
}

const ICON_REQUEST = { capBytes: 64 * 1024, accept: 'image/*, */*;q=0.5' } as const;

/** Requests each icon by HEAD. */
export async function askIcons(
  cache: RequestCache,
  plan: IconPlan,
): Promise<readonly PathAnswer[]> {
  return Promise.all(
    plan.paths.map(async (path) => {
      const answer = await cache.ask({ method: 'HEAD', path, ...ICON_REQUEST, redirects: 'none' });
      return { path, answer };
    }),
  );
}

/** Requests the icons again by GET if HEAD found no image. */
export async function askIconsByGet(
  cache: RequestCache,
  plan: IconPlan,
  answers: readonly PathAnswer[],
): Promise<IconSet> {
  const hasImage = answers.some(({ answer }) => isImage(answer));
  const checked = await Promise.all(
    answers.map(async ({ path, answer }) => {
      if (hasImage || !needsGet(answer)) return { path, answer };
      const get = { method: 'GET', path, ...ICON_REQUEST, redirects: 'same-origin' } as const;
      return { path, answer: await cache.ask(get) };
    }),
  );
  return { checked, otherHosts: plan.otherHosts, inline: plan.inline };
}

/** Some routers answer 404 to every HEAD. If HEAD got no answer at all, GET would hardly get one. */
function needsGet(answer: HttpObservation): boolean {
  return answer.ok && (answer.data.status < 200 || answer.data.status > 299);
}

/** True for status 200 with an image type. */
export function isImage(answer: HttpObservation): boolean {
  if (!answer.ok) return false;
  const types = headerValues(answer.data, 'content-type');
  return answer.data.status === 200 && types.some((type) => /^image\//i.test(type));
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
