/** P5: a HEAD request never runs the paid handler, and no receipt comes without a payment. Rule: README.md. */
import { defineCheck, fail, listed, pass, type Seen, unchallenged, warn } from '#check';
import type { Kit } from '#kit';
import type { ResourceObservation } from '#model';

/**
 * HEAD may answer with the challenge or with a refusal. RFC 9110 (9.1) requires servers to support HEAD, but a
 * refusal delivers nothing.
 */
const ACCEPTED_HEAD_STATUSES: ReadonlySet<number> = new Set([402, 404, 405, 501]);
const NEEDS = [
  'root',
  'openapi',
  'openapiAlternates',
  'manifest',
  'manifestJson',
  'llmsTxt',
  'agentCard',
  'agentJson',
  'robots',
  'soft404',
  'links',
  'icons',
  'resources',
] as const;

const GUARD_FIX = 'Protect HEAD like GET: list "HEAD /path" among the paid routes, or answer 405.';
const HEAD_FIX =
  'Answer HEAD like GET, with 402 (FastAPI: add a paid HEAD route too), or refuse it with 405.';

const OUTCOMES = {
  'settled-unpaid': fail('Send PAYMENT-RESPONSE only after a payment was settled.'),
  'head-served': fail(GUARD_FIX),
  'head-served-on-post': warn(GUARD_FIX),
  'head-silent': warn(HEAD_FIX),
  'head-odd': warn(HEAD_FIX),
  'no-settle': pass('Keep HEAD under the payment check.'),
};

export default defineCheck({
  id: 'P5',
  version: 1,
  says: {
    right: 'A HEAD request never delivers paid content, and no receipt is sent without a payment.',
    wrong:
      'HEAD requests get past the payment check, or get another answer than GET, or a receipt is sent without a payment.',
    unjudged: 'It is not known whether HEAD requests get past the payment check.',
  },
  needs: NEEDS,
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const { resources } = seen;
    const { probed } = resources;
    const receipt = findReceipt(seen, kit);
    if (receipt !== null) return ['settled-unpaid', receipt];
    if (kit.challenged(resources).length === 0) return unchallenged(probed.length);

    const selling = kit.selling(resources);
    const paid = selling.filter(
      (resource) => kit.status(resource, 'GET') === 402 && !isHeadNotKnown(resource, kit),
    );
    const served = paid.filter((resource) => isSuccess(kit.status(resource, 'HEAD')));
    if (served.length > 0) {
      const servedShare = `${served.length} of ${paid.length} paid GET routes serve HEAD without payment`;
      return ['head-served', `${servedShare}: ${listHeads(served, kit)}`];
    }
    const servedPosts = selling.filter((resource) => servesHeadOfPost(resource, kit));
    if (servedPosts.length > 0) return ['head-served-on-post', listHeads(servedPosts, kit)];
    // The status is null without an answer, and undefined if no HEAD was sent.
    const silent = paid.filter((resource) => kit.status(resource, 'HEAD') === null);
    if (silent.length > 0) return ['head-silent', listHeads(silent, kit)];
    const withOddHead = paid.filter((resource) => hasOddHead(resource, kit));
    if (withOddHead.length > 0) return ['head-odd', listHeads(withOddHead, kit)];
    return ['no-settle', listHeads(selling, kit)];
  },
});

/** A scan never pays, so no answer may have a receipt. */
function findReceipt(seen: Seen<(typeof NEEDS)[number]>, kit: Kit): string | null {
  const probes = seen.resources.probed.flatMap(({ path, probes }) =>
    probes.map(({ method, answer }) => ({ request: kit.request(method, path), answer })),
  );
  const documents = [
    { request: 'GET /', answer: seen.root },
    { request: 'GET /openapi.json', answer: seen.openapi },
    { request: 'GET /.well-known/x402', answer: seen.manifest },
    { request: 'GET /llms.txt', answer: seen.llmsTxt },
    { request: 'GET /robots.txt', answer: seen.robots },
    { request: 'GET /.well-known/agent-card.json', answer: seen.agentCard },
    { request: 'GET /.well-known/agent.json', answer: seen.agentJson },
    { request: 'GET /.well-known/x402.json', answer: seen.manifestJson },
    { request: 'GET of a random path', answer: seen.soft404 },
    ...[...seen.openapiAlternates, ...seen.icons.checked].map(({ path, answer }) => ({
      request: kit.request('GET', path),
      answer,
    })),
    ...seen.links.checked.map(({ url, method, answer }) => ({
      request: kit.request(method, new URL(url).pathname),
      answer,
    })),
  ];
  for (const { request, answer } of [...probes, ...documents]) {
    if (!answer.ok) continue;
    const name = kit.receipt(answer.data);
    if (name !== null) return `${request}: ${answer.data.status} with ${name}`;
  }
  return null;
}

/** True if a POST resource answers HEAD with 2xx. If its GET answers 2xx too, HEAD belongs to that GET. */
function servesHeadOfPost(resource: ResourceObservation, kit: Kit): boolean {
  const isPost = kit.isPostOnly(resource) || kit.status(resource, 'POST') === 402;
  const [get, head] = [kit.status(resource, 'GET'), kit.status(resource, 'HEAD')];
  return isPost && get !== 402 && !isSuccess(get) && isSuccess(head);
}

/** True if HEAD met a 429, or our politeness kept it back. */
function isHeadNotKnown({ probes }: ResourceObservation, kit: Kit): boolean {
  const head = probes.find(({ method }) => method === 'HEAD')?.answer;
  return head !== undefined && kit.isNoAnswer(head);
}

function hasOddHead(resource: ResourceObservation, kit: Kit): boolean {
  const head = kit.status(resource, 'HEAD');
  if (typeof head !== 'number' || ACCEPTED_HEAD_STATUSES.has(head)) return false;
  const get = resource.probes.find(({ method }) => method === 'GET')?.answer;
  // The scan follows the redirect of a GET, but not that of a HEAD.
  const isSameRedirect = head >= 300 && head < 400 && get?.ok && get.data.redirects.length > 0;
  return !isSameRedirect;
}

function isSuccess(status: number | null | undefined): boolean {
  return typeof status === 'number' && status >= 200 && status < 300;
}

function listHeads(resources: readonly ResourceObservation[], kit: Kit): string {
  const lines = resources.map(({ path, probes, tool }) => {
    if (tool !== undefined) return `${kit.request('POST', path)}: no receipt`;
    const head = probes.find(({ method }) => method === 'HEAD')?.answer;
    const result = head?.ok ? head.data.status : (head?.reason ?? 'not asked');
    return `${kit.request('HEAD', path)}: ${result}`;
  });
  return listed(lines);
}
