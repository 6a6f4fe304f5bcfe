import type { CheckCase } from '#check';
import type { FailureReason } from '#model';
import { toOrigin } from '../../src/scanner/guard/origin.ts';
import {
  answer,
  at,
  failure,
  html,
  NOT_FOUND,
  ORIGIN,
  resource,
  resources,
} from '../../test/fixtures/observations/build-observations.ts';

/** Every request except GET / gets the answer `given`. */
function withOtherAnswers(given: ReturnType<typeof failure>): CheckCase['seen'] {
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

function tlsCase(reason: FailureReason & `tls-${string}`): CheckCase {
  return {
    name: `every connection fails with ${reason}`,
    seen: { ...withOtherAnswers(failure(reason)), root: failure(reason) },
    expect: { status: 'fail', outcome: reason, evidence: ['GET /', reason] },
  };
}

const HTTP_ORIGIN = toOrigin(new URL('http://127.0.0.1:4021'));

const cases: readonly CheckCase[] = [
  tlsCase('tls-expired'),
  tlsCase('tls-self-signed'),
  tlsCase('tls-wrong-host'),
  tlsCase('tls-unknown-issuer'),
  tlsCase('tls-other'),
  {
    name: 'one of several servers has an expired certificate',
    seen: { root: failure('tls-expired') },
    expect: { status: 'fail', outcome: 'tls-expired' },
  },
  {
    name: 'the host name resolves to a private address',
    seen: { ...withOtherAnswers(failure('blocked-address')), root: failure('blocked-address') },
    expect: { status: 'fail', outcome: 'blocked-address', evidence: ['GET /: blocked-address'] },
  },
  {
    name: 'the host name does not exist',
    seen: { ...withOtherAnswers(failure('dns')), root: failure('dns', 'NXDOMAIN') },
    expect: { status: 'fail', outcome: 'dns', evidence: ['dns', 'NXDOMAIN'] },
  },
  {
    name: 'every connection is refused',
    seen: { ...withOtherAnswers(failure('refused')), root: failure('refused') },
    expect: { status: 'fail', outcome: 'refused', evidence: ['refused'] },
  },
  {
    name: 'the root and every other path answer 5xx',
    seen: { ...withOtherAnswers(answer(502)), root: answer(503) },
    expect: { status: 'fail', outcome: 'only-5xx', evidence: ['503'] },
  },
  {
    name: 'Cloudflare answers 530 to every path, because the tunnel is gone',
    seen: { ...withOtherAnswers(answer(530)), root: answer(530, '', { server: 'cloudflare' }) },
    expect: {
      status: 'fail',
      outcome: 'only-5xx',
      evidence: ['GET /: 530', 'Cloudflare answers for the application'],
    },
  },
  {
    name: 'an application behind Cloudflare answers 500 to every path',
    seen: { ...withOtherAnswers(answer(500)), root: answer(500, '', { server: 'cloudflare' }) },
    expect: {
      status: 'fail',
      outcome: 'only-5xx',
      evidence: ['no other request got an answer below 500'],
    },
  },
  {
    name: 'the root does not answer, and every other path answers 5xx',
    seen: { ...withOtherAnswers(answer(502)), root: failure('timeout') },
    expect: { status: 'fail', outcome: 'only-5xx', evidence: ['timeout', '502'] },
  },
  {
    name: 'no request is answered in time',
    seen: {
      ...withOtherAnswers(failure('timeout')),
      root: failure('timeout', 'no answer within 10 s'),
    },
    expect: { status: 'fail', outcome: 'silent', evidence: ['no answer within 10 s'] },
  },
  {
    name: 'the root does not answer, but the documents do',
    seen: { root: failure('timeout') },
    expect: { status: 'warn', outcome: 'root-silent', evidence: ['timeout', '/openapi.json: 200'] },
  },
  {
    name: 'only a paid resource answers',
    seen: {
      ...withOtherAnswers(failure('reset')),
      root: failure('reset'),
      resources: resources([resource()]),
    },
    expect: { status: 'warn', outcome: 'root-silent', evidence: ['paid resource: 402'] },
  },
  {
    name: 'the root refuses connections, but a random path answers 404',
    seen: { ...withOtherAnswers(failure('reset')), root: failure('refused'), soft404: NOT_FOUND },
    expect: { status: 'warn', outcome: 'root-silent', evidence: ['random path: 404'] },
  },
  {
    name: 'the root answers exactly 500, and the documents answer',
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
    name: 'the root redirects to plain http on its own host, which the guard refuses',
    seen: {
      root: answer(301, '', {}, { refusedRedirect: { to: 'http://seller.example/', why: 'http' } }),
    },
    expect: { status: 'pass', outcome: 'reachable', evidence: ['301'] },
  },
  {
    name: 'the root redirects to a page of its own host',
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
    name: 'the root sends its first byte after 5001 ms',
    seen: { root: html(200, '', {}, { firstByteMs: 5_001 }) },
    expect: { status: 'warn', outcome: 'slow', evidence: ['5001 ms'] },
  },
  {
    name: 'the root sends its first byte after exactly 5000 ms',
    seen: { root: html(200, '', {}, { firstByteMs: 5_000 }) },
    expect: { status: 'pass', outcome: 'reachable', evidence: ['5000 ms'] },
  },
  {
    name: 'the root answers 499, the highest status that passes',
    seen: { root: answer(499) },
    expect: { status: 'pass', outcome: 'reachable', evidence: ['499'] },
  },
  {
    name: 'the origin uses plain http, which the scan allows',
    seen: { origin: HTTP_ORIGIN, root: html(200, '', {}, { url: 'http://127.0.0.1:4021/' }) },
    expect: { status: 'pass', outcome: 'reachable', evidence: ['over http'] },
  },
  {
    name: 'the root answers 200 over https in time',
    seen: {},
    expect: { status: 'pass', outcome: 'reachable', evidence: ['GET /: 200 over https'] },
  },
];

export default cases;
