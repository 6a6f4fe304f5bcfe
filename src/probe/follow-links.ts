/** Links of the origin's documents, asked for while the scan's budget of requests lasts. */
import type { HttpObservation, LinkObservation, LinkSet } from '../model/observations.ts';
import type { RequestCache } from './client/request-cache.ts';
import type { LinkPlan, PlannedLink } from './plan/find-links.ts';

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

/** A link is judged by its status alone; documents need not be kept twice. */
function withoutBody(answer: HttpObservation): HttpObservation {
  return answer.ok ? { ...answer, data: { ...answer.data, body: '' } } : answer;
}
