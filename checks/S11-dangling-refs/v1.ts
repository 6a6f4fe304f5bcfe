/** S11: the links in this origin's documents work. Rule and sources: README.md. */
import { defineCheck, fail, listed, notApplicable, pass, type Seen, warn } from '#check';
import type { Kit } from '#kit';
import type { FailureReason, LinkObservation } from '#model';

const DEAD_STATUSES: ReadonlySet<number> = new Set([404, 410]);
const NO_CONNECTION_REASONS: ReadonlySet<FailureReason> = new Set([
  'dns',
  'refused',
  'reset',
  'tls-expired',
  'tls-self-signed',
  'tls-wrong-host',
  'tls-unknown-issuer',
  'tls-other',
]);
/** With these reasons the scan sent no request, or the origin refused it with a 429. */
const UNASKED_REASONS: ReadonlySet<FailureReason> = new Set(['budget', 'rate-limited', 'not-sent']);
/** More dead links than this, or a larger share of at least ten links, are many. */
const MAX_DEAD_LINKS = 2;
const MIN_LINKS_FOR_SHARE = 10;
const MAX_DEAD_SHARE = 0.2;

const FIX =
  'Correct or remove the links in llms.txt, OpenAPI, agent card and manifest that lead nowhere.';
const SERVER_FIX = 'Make every linked address answer in time, with a status below 500.';
const KEEP_FIX = 'Keep the links of all documents current.';

const OUTCOMES = {
  'no-documents': notApplicable(KEEP_FIX),
  'no-links': notApplicable(KEEP_FIX),
  'many-dead': fail(FIX),
  'some-dead': warn(FIX),
  failing: warn(SERVER_FIX),
  'all-alive': pass(KEEP_FIX),
};

export default defineCheck({
  id: 'S11',
  version: 1,
  says: {
    right: 'The links in the documents work.',
    wrong: 'The documents link to addresses that do not answer.',
    unjudged: 'It is not known whether the links in the documents work.',
  },
  needs: ['links', 'resources'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ links, resources }, kit) {
    const { unread = [] } = resources;
    const unreadNote = unread.length > 0 ? `; not read: ${listed(unread)}` : '';
    const otherHosts =
      links.otherHosts > 0
        ? `; we did not contact ${links.otherHosts} ${links.otherHosts === 1 ? 'link' : 'links'} on other hosts`
        : '';
    const notes = otherHosts + unreadNote;
    if (links.documents === 0) return ['no-documents', `0 documents have links${notes}`];
    const judgedLinks = links.checked
      .map((link) => takeAnswerToPost(link, resources.probed, kit))
      .filter((link) => link !== null)
      .filter(isAsked);
    if (judgedLinks.length === 0) {
      const count = `${links.found} links to this origin`;
      const unasked = links.found === 0 ? '' : '; we asked none of them';
      return ['no-links', `${links.documents} documents have ${count}${unasked}${notes}`];
    }
    const deadLinks = judgedLinks.filter(isDead);
    const isMany =
      deadLinks.length > MAX_DEAD_LINKS ||
      (judgedLinks.length >= MIN_LINKS_FOR_SHARE &&
        deadLinks.length > judgedLinks.length * MAX_DEAD_SHARE);
    if (deadLinks.length > 0) {
      const count = `${deadLinks.length} of ${judgedLinks.length} links are dead`;
      return [isMany ? 'many-dead' : 'some-dead', `${count}: ${listLinks(deadLinks, kit)}${notes}`];
    }
    const failingLinks = judgedLinks.filter((link) => !link.server && isFailing(link));
    if (failingLinks.length > 0) return ['failing', `${listLinks(failingLinks, kit)}${notes}`];
    return [
      'all-alive',
      `we checked ${judgedLinks.length} of ${links.found} links, and all are alive${notes}`,
    ];
  },
});

/**
 * A manifest may name a paid resource without a method. If GET does not find the resource, returns the link with
 * the answer to POST; null if the scan sent no POST.
 */
function takeAnswerToPost(
  link: LinkObservation,
  paid: Seen<'resources'>['resources']['probed'],
  kit: Kit,
): LinkObservation | null {
  const { pathname, search } = new URL(link.url);
  const resource = paid.find(({ path, method }) => path === pathname + search && method === null);
  if (link.server || link.method !== 'GET' || resource === undefined) return link;
  if (!kit.isPostOnly(resource)) return link;
  const answer = resource.probes.find(({ method }) => method === 'POST')?.answer;
  return answer === undefined ? null : { ...link, method: 'POST', answer };
}

function isAsked({ answer }: LinkObservation): boolean {
  return answer.ok || !UNASKED_REASONS.has(answer.reason);
}

/** The URL of a `servers` entry is only a prefix of paths, so it may answer 404. */
function isDead({ answer, server }: LinkObservation): boolean {
  if (!answer.ok) return NO_CONNECTION_REASONS.has(answer.reason);
  return !server && DEAD_STATUSES.has(answer.data.status);
}

/** True for a 5xx, and for an answer that did not come although a connection did. */
function isFailing({ answer }: LinkObservation): boolean {
  return answer.ok ? answer.data.status >= 500 : !NO_CONNECTION_REASONS.has(answer.reason);
}

function listLinks(links: readonly LinkObservation[], kit: Kit): string {
  const shown = links.map(({ url, from, method, answer }) => {
    const { pathname, search } = new URL(url);
    const result = answer.ok ? answer.data.status : answer.reason;
    return `${kit.request(method, pathname + search)}: ${result} (in ${kit.quote(from, 60)})`;
  });
  return listed(shown);
}
