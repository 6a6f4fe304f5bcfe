import type { CheckCase } from '../../src/engine/define-check.ts';
import type { FailureReason } from '../../src/model/observation.ts';
import {
  answer,
  at,
  failure,
  html,
  NOT_FOUND,
  ORIGIN,
  perfectSeller,
  resource,
  resources,
} from '../../test/fixtures/observations/build-observations.ts';

/** An origin where every request but the root ends as given. */
function everywhere(given: ReturnType<typeof failure>): CheckCase['seen'] {
  return {
    soft404: given,
    openapi: given,
    openapiAlternates: [at('/swagger.json', given)],
    manifest: given,
    manifestJson: given,
    llmsTxt: given,
    agentCard: given,
    agentJson: given,
    robots: given,
    resources: resources([]),
  };
}

function tls(reason: FailureReason & `tls-${string}`): CheckCase {
  return {
    name: `a certificate that fails as ${reason}`,
    seen: { ...everywhere(failure(reason)), root: failure(reason) },
    expect: { status: 'fail', outcome: reason, evidence: ['GET /', reason] },
  };
}

const http = { ...perfectSeller().origin, url: 'http://127.0.0.1:4021', scheme: 'http' as const };

const cases: readonly CheckCase[] = [
  tls('tls-expired'),
  tls('tls-self-signed'),
  tls('tls-wrong-host'),
  tls('tls-unknown-issuer'),
  tls('tls-other'),
  {
    name: 'one of several servers has a bad certificate',
    seen: { root: failure('tls-expired') },
    expect: { status: 'fail', outcome: 'tls-expired' },
  },
  {
    name: 'a name that leads into a private network',
    seen: { ...everywhere(failure('blocked-address')), root: failure('blocked-address') },
    expect: { status: 'fail', outcome: 'blocked-address', evidence: ['GET /: blocked-address'] },
  },
  {
    name: 'a name that does not exist',
    seen: { ...everywhere(failure('dns')), root: failure('dns', 'NXDOMAIN') },
    expect: { status: 'fail', outcome: 'dns', evidence: ['dns', 'NXDOMAIN'] },
  },
  {
    name: 'a closed port',
    seen: { ...everywhere(failure('refused')), root: failure('refused') },
    expect: { status: 'fail', outcome: 'refused', evidence: ['refused'] },
  },
  {
    name: 'nothing but 5xx, the root too',
    seen: { ...everywhere(answer(502)), root: answer(503) },
    expect: { status: 'fail', outcome: 'only-5xx', evidence: ['503'] },
  },
  {
    name: 'the root is silent and all else is 5xx',
    seen: { ...everywhere(answer(502)), root: failure('timeout') },
    expect: { status: 'fail', outcome: 'only-5xx', evidence: ['timeout', '502'] },
  },
  {
    name: 'no surface answers in time',
    seen: { ...everywhere(failure('timeout')), root: failure('timeout', 'no answer within 10 s') },
    expect: { status: 'fail', outcome: 'silent', evidence: ['no answer within 10 s'] },
  },
  {
    name: 'the root is silent, documents answer',
    seen: { root: failure('timeout') },
    expect: { status: 'warn', outcome: 'root-silent', evidence: ['timeout', '/openapi.json: 200'] },
  },
  {
    name: 'the root is silent, only a paid resource answers',
    seen: {
      ...everywhere(failure('reset')),
      root: failure('reset'),
      resources: resources([resource()]),
    },
    expect: { status: 'warn', outcome: 'root-silent', evidence: ['paid resource: 402'] },
  },
  {
    name: 'the root is refused, a plain 404 shows a server',
    seen: { ...everywhere(failure('reset')), root: failure('refused'), soft404: NOT_FOUND },
    expect: { status: 'warn', outcome: 'root-silent', evidence: ['random path: 404'] },
  },
  {
    name: 'only the root is 5xx: 500 is the limit',
    seen: { root: answer(500) },
    expect: { status: 'warn', outcome: 'root-5xx', evidence: ['GET /: 500', '200'] },
  },
  {
    name: 'the root redirects to another host',
    seen: { root: html(200, '<h1>Shop</h1>', {}, { url: 'https://www.seller.example/' }) },
    expect: { status: 'warn', outcome: 'left-host', evidence: ['"www.seller.example"'] },
  },
  {
    name: 'the root redirects to a host that the guard refuses',
    seen: {
      root: answer(302, '', {}, { refusedRedirect: { to: 'http://10.0.0.1/', why: 'private' } }),
    },
    expect: { status: 'warn', outcome: 'left-host', evidence: ['10.0.0.1'] },
  },
  {
    name: 'a redirect that was refused but stays on the host leaves nothing',
    seen: {
      root: answer(301, '', {}, { refusedRedirect: { to: 'http://seller.example/', why: 'http' } }),
    },
    expect: { status: 'pass', outcome: 'reachable', evidence: ['301'] },
  },
  {
    name: 'a redirect on the same host is none of our business here',
    seen: {
      root: html(
        200,
        '',
        {},
        {
          url: `${ORIGIN}/docs`,
          redirects: [{ url: `${ORIGIN}/`, status: 307, location: '/docs' }],
        },
      ),
    },
    expect: { status: 'pass', outcome: 'reachable' },
  },
  {
    name: 'first byte after 5001 ms',
    seen: { root: html(200, '', {}, { firstByteMs: 5_001 }) },
    expect: { status: 'warn', outcome: 'slow', evidence: ['5001 ms'] },
  },
  {
    name: 'first byte after exactly 5000 ms',
    seen: { root: html(200, '', {}, { firstByteMs: 5_000 }) },
    expect: { status: 'pass', outcome: 'reachable', evidence: ['5000 ms'] },
  },
  {
    name: 'a root of 402, 404 or 499 is an answer',
    seen: { root: answer(499) },
    expect: { status: 'pass', outcome: 'reachable', evidence: ['499'] },
  },
  {
    name: 'an allowed http origin needs no certificate',
    seen: { origin: http, root: html(200, '', {}, { url: 'http://127.0.0.1:4021/' }) },
    expect: { status: 'pass', outcome: 'reachable', evidence: ['over http'] },
  },
  {
    name: 'all right',
    seen: {},
    expect: { status: 'pass', outcome: 'reachable', evidence: ['GET /: 200 over https'] },
  },
];

export default cases;
