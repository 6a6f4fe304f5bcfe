/** P1: the origin can be reached, over TLS that holds. Rule and sources: README.md. */
import { defineCheck, type Seen } from '../../src/engine/define-check.ts';
import type { HttpObservation } from '../../src/model/observations.ts';
import { fail, pass, warn } from '../../src/model/verdict.ts';

/** Python's httpx, what most Python buyers run on, gives up after 5 s without a byte. */
const SLOW_MS = 5_000;

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

const TLS_FIX = {
  'tls-expired': 'Renew the certificate and let an ACME client renew it from now on.',
  'tls-self-signed': 'Replace the self-signed certificate by one of a public authority.',
  'tls-wrong-host': 'Serve a certificate whose subjectAltName has this host name.',
  'tls-unknown-issuer': 'Serve the whole chain (fullchain.pem) up to a publicly trusted root.',
  'tls-other': 'Serve TLS 1.2 or 1.3 with a certificate of a public authority.',
} as const;
const DNS_FIX = 'Publish A or AAAA records for this host name.';
const LISTEN_FIX = 'Let the server listen on the public address and open the port.';
const ANSWER_FIX = 'Make the server answer GET / with a status below 500 within 5 seconds.';
const KEEP = 'Keep the certificate renewed and the root answering within 5 seconds.';

export default defineCheck({
  id: 'P1',
  version: 1,
  needs: NEEDS,
  requires: [],
  outcomes: [
    'tls-expired',
    'tls-self-signed',
    'tls-wrong-host',
    'tls-unknown-issuer',
    'tls-other',
    'dns',
    'refused',
    'only-5xx',
    'silent',
    'root-silent',
    'root-5xx',
    'left-host',
    'slow',
    'reachable',
  ],

  evaluate(seen, kit) {
    const { origin, root } = seen;
    // A bad certificate is served to clients at random even where another answer got through.
    if (!root.ok && isTls(root.reason)) {
      return fail(root.reason, kit.failure('GET /', root), TLS_FIX[root.reason]);
    }
    const others = surfaces(seen);
    const alive = others.find(({ answer }) => answer.ok && answer.data.status < 500);
    if (!root.ok) {
      const what = kit.failure('GET /', root);
      if (alive !== undefined)
        return warn('root-silent', `${what}, yet ${show(alive)}`, ANSWER_FIX);
      if (root.reason === 'dns') return fail('dns', what, DNS_FIX);
      if (root.reason === 'refused') return fail('refused', what, LISTEN_FIX);
      const broken = others.find(({ answer }) => answer.ok);
      if (broken !== undefined) return fail('only-5xx', `${what}, ${show(broken)}`, ANSWER_FIX);
      return fail('silent', `${what}; ${others.length} more requests unanswered`, ANSWER_FIX);
    }
    const { status, url, refusedRedirect, firstByteMs } = root.data;
    if (status >= 500) {
      if (alive === undefined) return fail('only-5xx', `GET /: ${status}, as all else`, ANSWER_FIX);
      return warn('root-5xx', `GET /: ${status}, yet ${show(alive)}`, ANSWER_FIX);
    }
    const target = URL.parse(refusedRedirect?.to ?? url);
    if (target !== null && target.host !== new URL(origin.url).host) {
      const evidence = `GET / leads to another host, ${kit.quote(target.host)}`;
      return warn('left-host', evidence, 'Answer GET / on this host, where buyers were sent.');
    }
    const evidence = `GET /: ${status} over ${origin.scheme}, first byte after ${firstByteMs} ms`;
    if (firstByteMs > SLOW_MS) return warn('slow', evidence, ANSWER_FIX);
    return pass('reachable', evidence, KEEP);
  },
});

type Surface = { readonly request: string; readonly answer: HttpObservation };

/** Everything but the root that was asked for on this origin. */
function surfaces(seen: Seen<(typeof NEEDS)[number]>): readonly Surface[] {
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

function show({ request, answer }: Surface): string {
  return `${request}: ${answer.ok ? answer.data.status : answer.reason}`;
}

function isTls(reason: string): reason is keyof typeof TLS_FIX {
  return reason in TLS_FIX;
}
