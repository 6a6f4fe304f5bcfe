/** The findings of both versions of P2 about an origin of which no resource counts as paid. */
import type { HttpObservation, ResourceSet, UnsentRequest } from '../model/observations.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { type Found, fail, listed, warn } from './findings.ts';

export const FIREWALL_FIX =
  'Let unpaid callers through the firewall: exempt the paid paths from its bot protection.';
const LOGIN_FIX =
  'Let callers without a login reach the paid paths and the documents: a login of the site or its hosting answers every path with 401.';
const DEPLOY_FIX =
  'Deploy the application at this name, or point the name at it: its hosting answers that nothing runs here.';
export const ELSEWHERE_FIX = 'Scan the origin that the documents name.';
const MOVED_FIX = 'Scan the origin that every path leads to, or answer at this one.';
const DECLARE_POST_FIX =
  'Declare each paid POST in /openapi.json or /.well-known/x402: a scan sends no other POST.';
const GUARD_FIX =
  'Guard only the routes that you sell, and let /openapi.json, /.well-known/x402, /llms.txt and /robots.txt through the guard.';

/** Outcomes of an origin without any paid resource. */
export const NOTHING_PAID_OUTCOMES = {
  'rate-limited': warn('Do not count requests that end in a 402 against a rate limit.'),
  unread: warn(
    'Let a scan read the documents that it names: as JSON, in time and within its limits.',
  ),
  'every-path': fail(GUARD_FIX),
  'no-application': fail(DEPLOY_FIX),
  closed: fail(LOGIN_FIX),
  'none-found': fail('Declare each paid operation in /openapi.json with x-payment-info and a 402.'),
};

/** True if the random path of the scan asked for a payment. The 402 of a path then says nothing of what is sold. */
export function isGuardedEverywhere(soft404: HttpObservation): boolean {
  return soft404.ok && soft404.data.status === 402;
}

/** Judges an origin if no resource of it counts as paid. */
export function judgeNoneFound(
  resources: ResourceSet,
  soft404: HttpObservation,
  kit: Kit,
): Found<keyof typeof NOTHING_PAID_OUTCOMES> {
  const { looked, probed, elsewhere: otherServers = [] } = resources;
  const { unread = [], notKnown = [], unsent = [] } = resources;
  if (unread.length > 0) {
    return ['unread', `nothing that we read declares a paid path; ${listed(unread)}`];
  }
  if (notKnown.length > 0) return ['rate-limited', `not known: ${listed(notKnown)}`];
  if (otherServers.length > 0) {
    return ['none-found', describeServers(otherServers), ELSEWHERE_FIX];
  }
  if (isGuardedEverywhere(soft404)) {
    const evidence = `every path asks for a payment, a random one too, and none says what it sells: ${looked.join('; ')}`;
    return ['every-path', evidence];
  }
  const target = findOtherOrigin(soft404);
  if (target !== null) {
    return [
      'none-found',
      `every path redirects to another origin: ${kit.quote(target)}`,
      MOVED_FIX,
    ];
  }
  const listedPosts = unsent.filter(
    ({ source, method }) => source === 'index' && method === 'POST',
  );
  if (listedPosts.length > 0) return ['unread', describeUnsent(listedPosts, kit), DECLARE_POST_FIX];
  const closed = judgeClosed(soft404, looked, kit);
  if (closed !== null) return closed;
  const signIns = kit.signIns(resources);
  const signInNote =
    signIns.length > 0 ? `${signIns.length} ask for a sign-in and for no price; ` : '';
  const unsold = probed.filter((resource) => !signIns.includes(resource));
  const unsoldNote = unsold.length > 0 ? `; ${kit.answers(unsold)}` : '';
  const unsentNote = unsent.length > 0 ? `; ${describeUnsent(unsent, kit)}` : '';
  const evidence = `nothing declares a paid path: ${signInNote}${looked.join('; ')}${unsoldNote}${unsentNote}`;
  return ['none-found', evidence];
}

/** Returns the origin that the random path redirects to, as every path does; null if it stays here. */
function findOtherOrigin(soft404: HttpObservation): string | null {
  if (!soft404.ok || soft404.data.refusedRedirect === undefined) return null;
  const { refusedRedirect, url } = soft404.data;
  const target = URL.parse(refusedRedirect.to, url)?.origin ?? null;
  return target === new URL(url).origin ? null : target;
}

/** Judges a host on which no path reaches an application of the seller; null if one does. */
function judgeClosed(
  soft404: HttpObservation,
  looked: readonly string[],
  kit: Kit,
): Found<'no-application' | 'closed'> | null {
  if (!soft404.ok) return null;
  const platform = kit.hosting(soft404);
  if (platform !== null) {
    const evidence = `no application runs here, and its hosting (${platform}) answers for it`;
    return ['no-application', `${evidence}: ${looked.join('; ')}`];
  }
  const { status } = soft404.data;
  // Some applications answer 401 or 403 to unknown paths only, so the root decides.
  if ((status !== 401 && status !== 403) || !looked.includes(`GET /: ${status}`)) return null;
  const evidence = `every path answers ${status}, a random one too: ${looked.join('; ')}`;
  return ['closed', evidence, status === 403 ? FIREWALL_FIX : undefined];
}

export function describeServers(otherServers: readonly string[]): string {
  return `the documents sell on another origin: ${otherServers.join(', ')}`;
}

const UNSENT_PLACES: Readonly<Record<string, string>> = { root: '/', llms: '/llms.txt' };

/** "listed as POST /x, declared nowhere: not sent; / names POST /y, and no document sells it: not sent" */
export function describeUnsent(unsent: readonly UnsentRequest[], kit: Kit): string {
  const lines = unsent.map(({ method, template, source }) => {
    const request = kit.request(method, template);
    const place = UNSENT_PLACES[source];
    return place === undefined
      ? `listed as ${request}, declared nowhere: not sent`
      : `${place} names ${request}, and no document sells it: not sent`;
  });
  return listed(lines);
}
