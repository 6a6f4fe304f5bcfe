import type { CheckCase } from '../../src/engine/define-check.ts';
import {
  answer,
  asked,
  challenge402,
  challengeV2,
  encodeChallenge,
  failure,
  NOT_FOUND,
  ORIGIN,
  resource,
  resources,
  toolResource,
} from '../../test/fixtures/observations/build-observations.ts';

type Given = Parameters<typeof resource>[0];

function given(...options: readonly Given[]): CheckCase['seen'] {
  return { resources: resources(options.map((one) => resource(one))) };
}

const receipt = encodeChallenge({ success: true, transaction: '0x', network: 'eip155:8453' });

const cases: readonly CheckCase[] = [
  {
    name: 'a receipt beside the challenge',
    seen: given({ get: challenge402(challengeV2(), { headers: { 'payment-response': receipt } }) }),
    expect: {
      status: 'fail',
      outcome: 'settled-unpaid',
      evidence: ['GET /weather: 402 with PAYMENT-RESPONSE'],
    },
  },
  {
    name: 'a version 1 receipt on an unpaid HEAD',
    seen: given({ head: answer(200, '', { 'x-payment-response': receipt }) }),
    expect: {
      status: 'fail',
      outcome: 'settled-unpaid',
      evidence: ['HEAD /weather: 200 with X-PAYMENT-RESPONSE'],
    },
  },
  {
    name: 'a receipt on a second POST, though no challenge was seen',
    seen: given({
      method: 'POST',
      post: [answer(200), answer(200, '', { 'payment-response': receipt })],
    }),
    expect: { status: 'fail', outcome: 'settled-unpaid', evidence: ['POST /summaries'] },
  },
  {
    name: 'a receipt on a page that a document links to',
    seen: {
      ...given({}),
      links: {
        checked: [
          {
            url: `${ORIGIN}/docs`,
            from: '/llms.txt',
            method: 'GET',
            server: false,
            answer: answer(200, '', { 'payment-response': receipt }),
          },
        ],
        found: 1,
        otherHosts: 0,
        documents: 1,
      },
    },
    expect: {
      status: 'fail',
      outcome: 'settled-unpaid',
      evidence: ['GET /docs: 200 with PAYMENT-RESPONSE'],
    },
  },
  {
    name: 'a receipt on the agent card',
    seen: {
      ...given({}),
      agentCard: asked(
        '/.well-known/agent-card.json',
        answer(200, {}, { 'x-payment-response': receipt }),
      ),
    },
    expect: {
      status: 'fail',
      outcome: 'settled-unpaid',
      evidence: ['GET /.well-known/agent-card.json: 200 with X-PAYMENT-RESPONSE'],
    },
  },
  {
    name: 'Express: the paid handler runs on HEAD',
    seen: given({ head: answer(200, '', { 'content-length': '512' }) }),
    expect: {
      status: 'fail',
      outcome: 'head-served',
      evidence: ['1 of 1 paid GET routes', 'HEAD /weather: 200'],
    },
  },
  {
    name: 'HEAD of a sign-in gives away nothing that is sold',
    seen: given(
      {},
      {
        path: '/profile',
        get: challenge402(
          challengeV2({ accepts: [], extensions: { 'sign-in-with-x': { info: {}, schema: {} } } }),
        ),
        head: answer(200),
      },
    ),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['HEAD /weather: 402'] },
  },
  {
    name: 'one of two resources serves HEAD',
    seen: given({}, { path: '/b', head: answer(204) }),
    expect: { status: 'fail', outcome: 'head-served', evidence: ['1 of 2', 'HEAD /b: 204'] },
  },
  {
    name: 'a POST resource answers HEAD with 200',
    seen: given({ method: 'POST', head: answer(200) }),
    expect: {
      status: 'warn',
      outcome: 'head-served-on-post',
      evidence: ['HEAD /summaries: 200'],
    },
  },
  {
    name: 'a path with a free GET and a paid POST: HEAD is of the free side',
    seen: given({ method: 'POST', get: answer(200, { docs: true }), head: answer(200) }),
    expect: { status: 'pass', outcome: 'no-settle' },
  },
  {
    name: 'HEAD hangs',
    seen: given({ head: failure('timeout') }),
    expect: { status: 'warn', outcome: 'head-silent', evidence: ['HEAD /weather: timeout'] },
  },
  {
    name: 'HEAD is 500',
    seen: given({ head: answer(500) }),
    expect: { status: 'warn', outcome: 'head-odd', evidence: ['HEAD /weather: 500'] },
  },
  {
    name: 'HEAD is 403',
    seen: given({ head: answer(403) }),
    expect: { status: 'warn', outcome: 'head-odd', evidence: ['403'] },
  },
  {
    name: 'HEAD is redirected, GET is not',
    seen: given({ head: answer(302, '', { location: '/login' }) }),
    expect: { status: 'warn', outcome: 'head-odd', evidence: ['302'] },
  },
  {
    name: 'a trailing slash redirects both; only GET is followed',
    seen: given({
      get: {
        ...challenge402(),
        data: {
          ...challenge402().data,
          url: `${ORIGIN}/weather/`,
          redirects: [{ url: `${ORIGIN}/weather`, status: 307, location: '/weather/' }],
        },
      },
      head: answer(307, '', { location: '/weather/' }),
    }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['307'] },
  },
  {
    name: 'HEAD is answered with the challenge',
    seen: given({}),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['HEAD /weather: 402'] },
  },
  {
    name: 'FastAPI knows no HEAD',
    seen: given({ head: answer(405) }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['405'] },
  },
  {
    name: 'HEAD is 404, or 501',
    seen: given({ head: NOT_FOUND }, { path: '/b', head: answer(501) }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['404', '501'] },
  },
  {
    name: 'a POST resource that refuses HEAD',
    seen: given({ method: 'POST' }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['HEAD /summaries: 405'] },
  },
  {
    name: 'a tool, which knows no HEAD',
    seen: { resources: resources([toolResource()]) },
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['/mcp#forecast: no receipt'] },
  },
  {
    name: 'no challenge was seen, and P2 did not fail',
    seen: given({ method: 'POST', post: answer(422) }),
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
];

export default cases;
