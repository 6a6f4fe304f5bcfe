import type { CheckCase } from '#check';
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

type ResourceOptions = Parameters<typeof resource>[0];

function withResources(...list: readonly ResourceOptions[]): CheckCase['seen'] {
  return { resources: resources(list.map((options) => resource(options))) };
}

const receipt = encodeChallenge({ success: true, transaction: '0x', network: 'eip155:8453' });

const cases: readonly CheckCase[] = [
  {
    name: 'the unpaid 402 has a receipt',
    seen: withResources({
      get: challenge402(challengeV2(), { headers: { 'payment-response': receipt } }),
    }),
    expect: {
      status: 'fail',
      outcome: 'settled-unpaid',
      evidence: ['GET /weather: 402 with PAYMENT-RESPONSE'],
    },
  },
  {
    name: 'the answer to HEAD has a version 1 receipt',
    seen: withResources({ head: answer(200, '', { 'x-payment-response': receipt }) }),
    expect: {
      status: 'fail',
      outcome: 'settled-unpaid',
      evidence: ['HEAD /weather: 200 with X-PAYMENT-RESPONSE'],
    },
  },
  {
    name: 'the answer to the second POST has a receipt, and no answer a challenge',
    seen: withResources({
      method: 'POST',
      post: [answer(200), answer(200, '', { 'payment-response': receipt })],
    }),
    expect: { status: 'fail', outcome: 'settled-unpaid', evidence: ['POST /summaries'] },
  },
  {
    name: 'a page that llms.txt links to has a receipt',
    seen: {
      ...withResources({}),
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
    name: 'the agent card has a receipt',
    seen: {
      ...withResources({}),
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
    name: 'the paid handler of Express runs on HEAD',
    seen: withResources({ head: answer(200, '', { 'content-length': '512' }) }),
    expect: {
      status: 'fail',
      outcome: 'head-served',
      evidence: ['1 of 1 paid GET routes', 'HEAD /weather: 200'],
    },
  },
  {
    name: 'a sign-in answers HEAD with 200',
    seen: withResources(
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
    name: 'one of two paid resources answers HEAD with 204',
    seen: withResources({}, { path: '/b', head: answer(204) }),
    expect: { status: 'fail', outcome: 'head-served', evidence: ['1 of 2', 'HEAD /b: 204'] },
  },
  {
    name: 'a POST resource answers HEAD with 200',
    seen: withResources({ method: 'POST', head: answer(200) }),
    expect: { status: 'warn', outcome: 'head-served-on-post', evidence: ['HEAD /summaries: 200'] },
  },
  {
    name: 'a path with a free GET and a paid POST answers HEAD with 200',
    seen: withResources({ method: 'POST', get: answer(200, { docs: true }), head: answer(200) }),
    expect: { status: 'pass', outcome: 'no-settle' },
  },
  {
    name: 'HEAD is not answered in time',
    seen: withResources({ head: failure('timeout') }),
    expect: { status: 'warn', outcome: 'head-silent', evidence: ['HEAD /weather: timeout'] },
  },
  {
    name: 'HEAD answers 500',
    seen: withResources({ head: answer(500) }),
    expect: { status: 'warn', outcome: 'head-odd', evidence: ['HEAD /weather: 500'] },
  },
  {
    name: 'HEAD answers 403',
    seen: withResources({ head: answer(403) }),
    expect: { status: 'warn', outcome: 'head-odd', evidence: ['403'] },
  },
  {
    name: 'HEAD is redirected, and GET is not',
    seen: withResources({ head: answer(302, '', { location: '/login' }) }),
    expect: { status: 'warn', outcome: 'head-odd', evidence: ['302'] },
  },
  {
    name: 'HEAD and GET are redirected to the path with a slash',
    seen: withResources({
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
    name: 'HEAD answers with the challenge',
    seen: withResources({}),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['HEAD /weather: 402'] },
  },
  {
    name: 'HEAD meets a rate limit',
    seen: withResources({ head: answer(429) }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['HEAD /weather: 429'] },
  },
  {
    name: 'HEAD was not sent, because the scan had sent its requests',
    seen: withResources({ head: failure('not-sent') }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['not-sent'] },
  },
  {
    name: 'every answer is a 429',
    seen: withResources({ get: answer(429), head: answer(429) }),
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
  {
    name: 'FastAPI answers HEAD with 405',
    seen: withResources({ head: answer(405) }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['405'] },
  },
  {
    name: 'one resource answers HEAD with 404, another with 501',
    seen: withResources({ head: NOT_FOUND }, { path: '/b', head: answer(501) }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['404', '501'] },
  },
  {
    name: 'a POST resource answers HEAD with 405',
    seen: withResources({ method: 'POST' }),
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['HEAD /summaries: 405'] },
  },
  {
    name: 'a tool is asked, which has no HEAD',
    seen: { resources: resources([toolResource()]) },
    expect: { status: 'pass', outcome: 'no-settle', evidence: ['/mcp#forecast: no receipt'] },
  },
  {
    name: 'the only POST answers 422, without a challenge',
    seen: withResources({ method: 'POST', post: answer(422) }),
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
];

export default cases;
