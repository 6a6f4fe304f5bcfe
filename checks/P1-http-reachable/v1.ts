/** P1: the origin can be reached, over TLS that clients trust. Rule and sources: README.md. */
import { defineCheck, type Found, fail, pass, type Seen, warn } from '#check';
import type { Kit } from '#kit';
import type { FailedObservation, HttpObservation } from '#model';

/** Most Python buyers use httpx, which gives up after 5 s without a byte. */
const MAX_FIRST_BYTE_MS = 5_000;

/** Names and addresses of the machine that scans (RFC 6761, 6.3; RFC 1122, 3.2.1.3). */
const LOOPBACK = /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

const NEEDS = [
  'origin',
  'root',
  'soft404',
  'openapi',
  'openapiAlternates',
  'manifest',
  'manifestJson',
  'llmsTxt',
  'agentCard',
  'agentJson',
  'robots',
  'resources',
] as const;

const TLS_OUTCOMES = {
  'tls-expired': fail('Renew the certificate and let an ACME client renew it from now on.'),
  'tls-self-signed': fail('Replace the self-signed certificate with one from a public authority.'),
  'tls-wrong-host': fail('Serve a certificate whose subjectAltName has this host name.'),
  'tls-unknown-issuer': fail(
    'Serve the whole chain (fullchain.pem) up to a publicly trusted root.',
  ),
  'tls-other': fail('Serve TLS 1.2 or 1.3 with a certificate from a public authority.'),
};
const START_FIX = 'Start the server on this machine, or name its port.';
const ANSWER_FIX = 'Make the server answer GET / with a status below 500 within 5 seconds.';

const HOSTING_FIX =
  'Start the application, or the tunnel to it: its hosting answers that it cannot reach the application.';

const OUTCOMES = {
  'blocked-address': fail('Publish only public internet addresses for this host name.'),
  ...TLS_OUTCOMES,
  dns: fail('Make the name servers of this host name answer with A or AAAA records.'),
  refused: fail('Let the server listen on the public address and open the port.'),
  'only-5xx': fail(ANSWER_FIX),
  silent: fail(ANSWER_FIX),
  'root-silent': warn(ANSWER_FIX),
  'root-5xx': warn(ANSWER_FIX),
  'left-host': warn('Answer GET / on this host: buyers were sent here.'),
  slow: warn(ANSWER_FIX),
  reachable: pass('Keep the certificate renewed and the root answering within 5 seconds.'),
};

export default defineCheck({
  id: 'P1',
  version: 1,
  says: {
    right: 'The origin answers over TLS that every client trusts.',
    wrong: 'Buyers cannot reliably reach this origin.',
    unjudged: 'It is not known whether buyers can reach this origin.',
  },
  needs: NEEDS,
  requires: [],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const { origin, root } = seen;
    const otherAnswers = listOtherAnswers(seen);
    if (!root.ok) return judgeUnanswered(root, origin.hostname, otherAnswers, kit);
    const { status, url, refusedRedirect, firstByteMs } = root.data;
    if (status >= 500) {
      const workingAnswer = otherAnswers.find(isBelow500);
      if (workingAnswer === undefined) return judgeOnly5xx(root, status, kit);
      return ['root-5xx', `GET /: ${status}, but ${describeAnswer(workingAnswer)}`];
    }
    const target = URL.parse(refusedRedirect?.to ?? url);
    if (target !== null && target.host !== origin.host) {
      return ['left-host', `GET / leads to another host, ${kit.quote(target.host)}`];
    }
    const evidence = `GET /: ${status} over ${origin.scheme}, first byte after ${firstByteMs} ms`;
    return [firstByteMs > MAX_FIRST_BYTE_MS ? 'slow' : 'reachable', evidence];
  },
});

function judgeUnanswered(
  root: FailedObservation,
  hostname: string,
  otherAnswers: readonly OtherAnswer[],
  kit: Kit,
): Found<keyof typeof OUTCOMES> {
  const { reason } = root;
  const rootFailure = kit.failure('GET /', root);
  // A bad certificate fails, even if another server of the host answered other requests.
  if (reason === 'blocked-address' || isTlsReason(reason)) return [reason, rootFailure];
  const workingAnswer = otherAnswers.find(isBelow500);
  if (workingAnswer !== undefined) {
    return ['root-silent', `${rootFailure}, but ${describeAnswer(workingAnswer)}`];
  }
  if (reason === 'dns') return ['dns', rootFailure];
  if (reason === 'refused') {
    const isThisMachine = LOOPBACK.test(hostname);
    return ['refused', rootFailure, isThisMachine ? START_FIX : undefined];
  }
  // No other answer is below 500 here, so any answer is a 5xx.
  const error5xx = otherAnswers.find(({ answer }) => answer.ok);
  if (error5xx !== undefined) return ['only-5xx', `${rootFailure}, ${describeAnswer(error5xx)}`];
  return ['silent', `${rootFailure}; ${otherAnswers.length} more requests got no answer`];
}

/** A hosting platform or a proxy may answer because it cannot reach the application. */
function judgeOnly5xx(root: HttpObservation, status: number, kit: Kit): Found<'only-5xx'> {
  const evidence = `GET /: ${status}, and no other request got an answer below 500`;
  const platform = kit.hosting(root);
  if (platform === null) return ['only-5xx', evidence];
  return ['only-5xx', `${evidence}; ${platform} answers for the application`, HOSTING_FIX];
}

type OtherAnswer = { readonly request: string; readonly answer: HttpObservation };

/** Lists the answers of this origin to documents, paid resources and a random path. */
function listOtherAnswers(seen: Seen<(typeof NEEDS)[number]>): readonly OtherAnswer[] {
  const probes = seen.resources.probed.flatMap(({ probes }) => probes);
  return [
    { request: 'GET /openapi.json', answer: seen.openapi },
    { request: 'GET /.well-known/x402', answer: seen.manifest },
    { request: 'GET /llms.txt', answer: seen.llmsTxt },
    { request: 'GET /robots.txt', answer: seen.robots },
    { request: 'GET /.well-known/agent-card.json', answer: seen.agentCard },
    { request: 'GET /.well-known/agent.json', answer: seen.agentJson },
    { request: 'GET /.well-known/x402.json', answer: seen.manifestJson },
    ...seen.openapiAlternates.map(({ path, answer }) => ({ request: `GET ${path}`, answer })),
    ...probes.map(({ method, answer }) => ({ request: `${method} of a paid resource`, answer })),
    { request: 'GET of a random path', answer: seen.soft404 },
  ];
}

function isBelow500({ answer }: OtherAnswer): boolean {
  return answer.ok && answer.data.status < 500;
}

function describeAnswer({ request, answer }: OtherAnswer): string {
  return `${request}: ${answer.ok ? answer.data.status : answer.reason}`;
}

function isTlsReason(reason: string): reason is keyof typeof TLS_OUTCOMES {
  return Object.hasOwn(TLS_OUTCOMES, reason);
}
