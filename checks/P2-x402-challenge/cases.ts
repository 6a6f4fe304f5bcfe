import type { CheckCase } from '#check';
import {
  answer,
  bodyChallenge402,
  challenge402,
  challengeV2,
  encodeChallenge,
  failure,
  html,
  NOT_FOUND,
  ORIGIN,
  resource,
  resources,
  toolResource,
} from '../../test/fixtures/observations/build-observations.ts';
import { MISPLACED_CASES } from '../../test/fixtures/observations/misplaced-challenges.ts';
import {
  OTHER_PROTOCOL_CASES,
  SIGN_IN_CHALLENGE,
} from '../../test/fixtures/observations/other-protocols.ts';
import { REFUSED_INPUT_CASES } from '../../test/fixtures/observations/refused-input.ts';
import { UNSENT_CASES } from '../../test/fixtures/observations/unsent-cases.ts';

const freeGet = resource({ path: '/free', get: answer(200, { ok: true }), head: answer(200) });
const signIn = resource({ path: '/profile', get: challenge402(SIGN_IN_CHALLENGE) });
const unsentPost = resource({ method: 'POST', post: [] });
const post422 = resource({
  method: 'POST',
  post: answer(422, { detail: [{ loc: ['body', 'text'], msg: 'Field required' }] }),
});

/** The scan made up the id, and got 404. */
const madeUpResource = resource({
  ...{ path: '/users/1', template: '/users/{id}', madeUp: true },
  ...{ get: NOT_FOUND, head: NOT_FOUND },
});
const forbidden = html(403, '<html><title>Attention Required!</title></html>');
const firewalled = resource({ get: forbidden, head: forbidden });

const TOO_MANY = answer(429, { error: 'Too many unpaid requests' }, { 'retry-after': '60' });
const limited = resource({ path: '/limited', get: TOO_MANY, head: TOO_MANY });
const keptBack = resource({
  path: '/kept-back',
  get: failure('not-sent'),
  head: failure('not-sent'),
});

const casesOfBothVersions: readonly CheckCase[] = [
  {
    name: 'every paid resource answers 429',
    seen: { resources: resources([limited, resource({ path: '/b', get: TOO_MANY })]) },
    expect: {
      status: 'warn',
      outcome: 'rate-limited',
      evidence: ['2 of 2 not known: 429', 'GET /limited: 429'],
    },
  },
  {
    name: 'one resource challenges, another answers 429',
    seen: { resources: resources([resource(), limited]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 2 not known: 429'] },
  },
  {
    name: 'one resource answers 429, another 200',
    seen: { resources: resources([limited, freeGet]) },
    expect: { status: 'fail', outcome: 'unpaid', evidence: ['GET /free: 200'] },
  },
  {
    name: 'GET answers a 402 without a challenge, and HEAD 429',
    seen: { resources: resources([resource({ get: answer(402, {}), head: TOO_MANY })]) },
    expect: { status: 'fail', outcome: 'no-terms' },
  },
  {
    name: 'the requests to the only paid resource were kept back',
    seen: { resources: resources([keptBack]) },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['not known: not sent'] },
  },
  {
    name: 'the origin used up the bytes of the scan before its paid resource was asked',
    seen: { resources: resources([resource({ get: failure('budget') })]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /weather: budget'] },
  },
  {
    name: 'nothing is declared, and a GET that may be paid answers 429',
    seen: { resources: resources([], { notKnown: ['GET /items: 429'] }) },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['GET /items: 429'] },
  },
  {
    name: 'nothing that was read declares a paid path, and one document was not read',
    seen: { resources: resources([], { unread: ['GET /openapi.json: 429'] }) },
    expect: { status: 'warn', outcome: 'unread', evidence: ['GET /openapi.json: 429'] },
  },
  ...UNSENT_CASES,
  {
    name: 'a document was not read, and another declares a resource that answers 200',
    seen: { resources: resources([freeGet], { unread: ['GET /openapi.json: 429'] }) },
    expect: { status: 'fail', outcome: 'unpaid', evidence: ['GET /free: 200'] },
  },
  {
    name: 'a document was not read, and another declares only operations by PUT',
    seen: {
      resources: resources([], { otherMethods: 1, unread: ['GET /openapi.json: 503'] }),
    },
    expect: { status: 'warn', outcome: 'other-methods' },
  },
  {
    name: 'a firewall answers every paid resource with 403',
    seen: {
      resources: resources([firewalled, resource({ path: '/b', get: forbidden, head: forbidden })]),
    },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /weather: 403', 'GET /b: 403'] },
  },
  {
    name: 'the only paid path needs an id, and answers a made-up id with 404',
    seen: { resources: resources([madeUpResource]) },
    expect: { status: 'warn', outcome: 'made-up', evidence: ['GET /users/1: 404'] },
  },
  {
    name: 'one resource challenges, another answers a made-up id with 404',
    seen: { resources: resources([resource(), madeUpResource]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 with a made-up id'] },
  },
  {
    name: 'the only paid path answers a made-up id with 200',
    seen: { resources: resources([{ ...freeGet, madeUp: true }]) },
    expect: { status: 'fail', outcome: 'unpaid', evidence: ['GET /free: 200'] },
  },
  {
    name: 'the only paid path answers a made-up id with a challenge',
    seen: { resources: resources([resource({ madeUp: true })]) },
    expect: { status: 'pass', outcome: 'challenged' },
  },
  {
    name: 'the seller declares nothing paid, and nothing answers 402',
    seen: { resources: resources([]) },
    expect: {
      status: 'fail',
      outcome: 'none-found',
      evidence: ['/openapi.json: 404', '/llms.txt'],
    },
  },
  {
    name: 'the documents exceed the limits of the plan',
    seen: { resources: resources([], { planFailure: 'over 1 s of CPU' }) },
    expect: { status: 'fail', outcome: 'limits', evidence: ['over 1 s of CPU'] },
  },
  {
    name: 'no application runs at the name, and the hosting platform answers',
    seen: {
      soft404: answer(404, 'The page could not be found', {
        'x-vercel-error': 'DEPLOYMENT_NOT_FOUND',
      }),
      resources: resources([], { looked: ['GET /: 404'] }),
    },
    expect: { status: 'fail', outcome: 'no-application', evidence: ['(Vercel)', 'GET /: 404'] },
  },
  {
    name: 'a login answers every path, the root and a random one too',
    seen: {
      soft404: html(401, '<title>Log in</title>'),
      resources: resources([], { looked: ['GET /: 401'] }),
    },
    expect: { status: 'fail', outcome: 'closed', evidence: ['every path answers 401'] },
  },
  {
    name: 'the seller sells only by PUT, PATCH and DELETE',
    seen: { resources: resources([], { otherMethods: 3 }) },
    expect: { status: 'warn', outcome: 'other-methods', evidence: ['3 paid operations'] },
  },
  {
    name: 'OpenAPI serves every paid operation from another origin',
    seen: { resources: resources([], { elsewhere: ['https://api.other.example'] }) },
    expect: {
      status: 'fail',
      outcome: 'none-found',
      evidence: ['another origin', 'https://api.other.example'],
    },
  },
  {
    name: 'the manifest lists a free resource, and OpenAPI serves the paid operations from another origin',
    seen: { resources: resources([freeGet], { elsewhere: ['https://api.other.example'] }) },
    expect: {
      status: 'fail',
      outcome: 'unpaid',
      evidence: ['GET /free: 200', 'https://api.other.example'],
    },
  },
  {
    name: 'the only 402 asks for a sign-in',
    seen: { resources: resources([signIn]) },
    expect: { status: 'fail', outcome: 'none-found', evidence: ['1 ask for a sign-in'] },
  },
  {
    name: 'one resource challenges, another asks for a sign-in',
    seen: { resources: resources([resource(), signIn]) },
    expect: {
      status: 'pass',
      outcome: 'challenged',
      evidence: ['1 of 1 paid', '1 ask for a sign-in'],
    },
  },
  {
    name: 'the only paid resource answers 200 without payment',
    seen: { resources: resources([freeGet]) },
    expect: { status: 'fail', outcome: 'unpaid', evidence: ['GET /free: 200'] },
  },
  {
    name: 'the only paid resource answers 500',
    seen: { resources: resources([resource({ get: answer(500), head: answer(500) })]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /weather: 500'] },
  },
  {
    name: 'no paid resource answers in time',
    seen: { resources: resources([resource({ get: failure('timeout'), head: failure('reset') })]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /weather: timeout'] },
  },
  {
    name: 'the only GET answers 422, which does not show that it is paid',
    seen: { resources: resources([resource({ get: answer(422) })]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['422'] },
  },
  {
    name: 'a 402 has an HTML page and no challenge',
    seen: { resources: resources([resource({ get: html(402, '<h1>Pay</h1>') })]) },
    expect: { status: 'fail', outcome: 'no-terms', evidence: ['GET /weather: 402'] },
  },
  {
    name: 'a 402 has JSON that is not a challenge',
    seen: { resources: resources([resource({ get: answer(402, { error: 'Pay' }) })]) },
    expect: { status: 'fail', outcome: 'no-terms' },
  },
  {
    name: 'one GET challenges, another answers 400',
    seen: { resources: resources([resource(), resource({ path: '/city', get: answer(400) })]) },
    expect: {
      status: 'warn',
      outcome: 'validates-first',
      evidence: ['1 of 2 paid', 'GET /city: 400'],
    },
  },
  {
    name: 'one resource challenges, another answers 200',
    seen: { resources: resources([resource(), freeGet]) },
    expect: {
      status: 'warn',
      outcome: 'some-missing',
      evidence: ['1 of 2 paid', 'GET /free: 200'],
    },
  },
  {
    name: 'one resource challenges, another answers 403',
    seen: { resources: resources([resource(), resource({ path: '/b', get: answer(403) })]) },
    expect: { status: 'warn', outcome: 'some-missing', evidence: ['GET /b: 403'] },
  },
  {
    name: 'the only challenge is of version 1',
    seen: { resources: resources([resource({ get: bodyChallenge402() })]) },
    expect: {
      status: 'warn',
      outcome: 'v1-only',
      evidence: ['1 of 1 challenges are version 1', 'GET /weather'],
    },
  },
  {
    name: 'one challenge is of version 2, another of version 1',
    seen: { resources: resources([resource(), resource({ path: '/b', get: bodyChallenge402() })]) },
    expect: {
      status: 'warn',
      outcome: 'v1-only',
      evidence: ['1 of 2 challenges are version 1', 'GET /b'],
    },
  },
  {
    name: 'the header has a version 2 challenge, the body one of version 1',
    seen: {
      resources: resources([
        resource({
          get: challenge402(challengeV2(), { body: { x402Version: 1, error: '', accepts: [] } }),
        }),
      ]),
    },
    expect: { status: 'pass', outcome: 'challenged' },
  },
  {
    name: 'a version 2 challenge is only in the body',
    seen: { resources: resources([resource({ get: bodyChallenge402(challengeV2()) })]) },
    expect: { status: 'pass', outcome: 'challenged' },
  },
  {
    name: 'a paid GET challenges, and HEAD answers 405',
    seen: { resources: resources([resource({ head: answer(405) })]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1 paid'] },
  },
  {
    name: 'six of 41 declared resources were asked, and all challenge',
    seen: {
      resources: resources(
        ['/a', '/b', '/c', '/d', '/e', '/f'].map((path) => resource({ path })),
        { declared: 41 },
      ),
    },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['6 of 6', '6 of 41'] },
  },
  {
    name: 'a link of llms.txt that no document declares paid answers 402',
    seen: {
      resources: resources([resource({ declaredPaid: false, sources: ['llms'] })], { declared: 1 }),
    },
    expect: { status: 'pass', outcome: 'challenged' },
  },
];

const casesWithoutPost: readonly CheckCase[] = [
  {
    name: 'the seller has only POST resources',
    versions: [1],
    seen: { resources: resources([unsentPost]), probing: { post: false } },
    expect: {
      status: 'warn',
      outcome: 'post-unsent',
      evidence: ['this catalog does not send', '1 paid resources'],
    },
  },
  {
    name: 'no document declares a method, and GET answers 404',
    versions: [1],
    seen: {
      resources: resources([resource({ method: null, get: NOT_FOUND, head: NOT_FOUND })]),
      probing: { post: false },
    },
    expect: { status: 'warn', outcome: 'post-unsent' },
  },
  {
    name: 'a GET challenges, and no POST was sent to another resource',
    versions: [1],
    seen: { resources: resources([resource(), unsentPost]), probing: { post: false } },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1 paid'] },
  },
  {
    name: 'a GET is free, and no POST was sent to another resource',
    versions: [1],
    seen: { resources: resources([freeGet, unsentPost]), probing: { post: false } },
    expect: { status: 'fail', outcome: 'unpaid', evidence: ['GET /free: 200'] },
  },
];

/** The router redirects POST /sum to /sum/, and sends the challenge there. */
const redirectedPost = resource({
  ...{ method: 'POST', path: '/sum' },
  post: answer(
    402,
    {},
    { 'payment-required': encodeChallenge(challengeV2()) },
    {
      url: `${ORIGIN}/sum/`,
      redirects: [{ url: `${ORIGIN}/sum`, status: 307, location: '/sum/' }],
    },
  ),
});

const casesWithPost: readonly CheckCase[] = [
  {
    name: 'a POST gets its challenge after a redirect on the same origin',
    versions: [2],
    seen: { resources: resources([redirectedPost]) },
    expect: {
      status: 'warn',
      outcome: 'redirected',
      evidence: ['POST /sum: 307 to "/sum/"', 'TypeScript', 'Python'],
    },
  },
  {
    name: 'a POST redirects to another host',
    versions: [2],
    seen: {
      resources: resources([
        resource({
          ...{ method: 'POST', path: '/sum' },
          post: answer(308, '', {}, { refusedRedirect: { to: 'https://b.example/', why: 'host' } }),
        }),
      ]),
    },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['POST /sum: 308'] },
  },
  {
    name: 'a POST resource answers 402 to an empty JSON body',
    versions: [2],
    seen: { resources: resources([resource({ method: 'POST' })]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1 paid'] },
  },
  {
    name: 'FastAPI answers the only POST with 422',
    versions: [2],
    seen: { resources: resources([post422]) },
    expect: {
      status: 'warn',
      outcome: 'validates-only',
      evidence: ['POST /summaries: 422 "Field required"', 'before input was validated'],
    },
  },
  {
    name: 'the only POST answers 401',
    versions: [2],
    seen: { resources: resources([resource({ method: 'POST', post: answer(401) })]) },
    expect: { status: 'warn', outcome: 'validates-only', evidence: ['401'] },
  },
  {
    name: 'no document declares a method: GET answers 405, POST answers 400',
    versions: [2],
    seen: {
      resources: resources([resource({ method: null, get: answer(405), post: answer(400) })]),
    },
    expect: { status: 'warn', outcome: 'validates-only', evidence: ['POST /weather: 400'] },
  },
  {
    name: 'one POST answers 422, another runs the handler unpaid',
    versions: [2],
    seen: {
      resources: resources([
        post422,
        resource({ method: 'POST', path: '/open', post: answer(200, { ok: true }) }),
      ]),
    },
    expect: { status: 'fail', outcome: 'unpaid', evidence: ['POST /open: 200'] },
  },
  ...REFUSED_INPUT_CASES,
  {
    name: 'a GET challenges, and a POST answers 422',
    versions: [2],
    seen: { resources: resources([resource(), post422]) },
    expect: {
      status: 'warn',
      outcome: 'validates-first',
      evidence: ['1 of 2 paid', 'POST /summaries: 422'],
    },
  },
  {
    name: 'an older recording has a POST to a declared GET, and only POST gets the challenge',
    versions: [2],
    seen: {
      resources: resources([
        resource({ get: answer(405), head: answer(405), post: challenge402() }),
      ]),
    },
    expect: {
      status: 'pass',
      outcome: 'challenged',
    },
  },
  {
    name: 'no document declares a method, and POST gets the challenge',
    versions: [2],
    seen: {
      resources: resources([resource({ method: null, get: NOT_FOUND, post: challenge402() })]),
    },
    expect: { status: 'pass', outcome: 'challenged' },
  },
  {
    name: 'a recording has no POST to the only resource',
    versions: [2],
    seen: { resources: resources([unsentPost]), probing: { post: false } },
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['1 resources need a POST'],
    },
  },
  {
    name: 'the seller has only paid tools, none annotated as read-only',
    versions: [2],
    seen: { resources: resources([], { uncalledTools: 2 }) },
    expect: { status: 'warn', outcome: 'tools-uncalled', evidence: ['2 paid tools'] },
  },
  {
    name: 'the only paid tool asks for payment',
    versions: [2],
    seen: { resources: resources([toolResource()]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1'] },
  },
  {
    name: 'a recording has a GET that challenges, and a POST resource without a POST',
    versions: [2],
    seen: { resources: resources([resource(), unsentPost]), probing: { post: false } },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1'] },
  },
];

const cases = [
  ...casesOfBothVersions,
  ...MISPLACED_CASES,
  ...OTHER_PROTOCOL_CASES,
  ...casesWithoutPost,
  ...casesWithPost,
];

export default cases;
