import type { CheckCase } from '../../src/engine/define-check.ts';
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

const free = resource({ path: '/free', get: answer(200, { ok: true }), head: answer(200) });
const SIGN_IN = challengeV2({
  accepts: [],
  extensions: { 'sign-in-with-x': { info: {}, schema: {} } },
});
const signIn = resource({ path: '/profile', get: challenge402(SIGN_IN) });
const MPP = 'Payment id="d41d8cd9", method="tempo", intent="charge"';
const mpp = speaking('/mpp', MPP);
const stripe = speaking('/stripe', 'Payment id="2", method="stripe", intent="charge"');
const both402 = resource({
  get: challenge402(challengeV2(), { headers: { 'www-authenticate': MPP } }),
});
const signInOverMpp = resource({
  get: challenge402(SIGN_IN, { headers: { 'www-authenticate': MPP } }),
});
const l402 = speaking('/l402', 'L402 macaroon="AGIAJEemVQUTEyNCR0exk7ek90Cg==", invoice="lnbc1"');
const unsentPost = resource({ method: 'POST', post: [] });
const post422 = resource({
  method: 'POST',
  post: answer(422, { detail: [{ loc: ['body', 'text'], msg: 'Field required' }] }),
});

/** A 402 of another protocol. */
function speaking(path: string, challenge: string) {
  return resource({ path, get: answer(402, {}, { 'www-authenticate': challenge }) });
}

/** Asked with an id that nothing declares. */
const madeUp = resource({
  ...{ path: '/users/1', template: '/users/{id}', madeUp: true },
  ...{ get: NOT_FOUND, head: NOT_FOUND },
});
const forbidden = html(403, '<html><title>Attention Required!</title></html>');
const walled = resource({ get: forbidden, head: forbidden });

const both: readonly CheckCase[] = [
  {
    name: 'a firewall before the paid resource',
    seen: {
      resources: resources([walled, resource({ path: '/b', get: forbidden, head: forbidden })]),
    },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /weather: 403', 'GET /b: 403'] },
  },
  {
    name: 'nothing but ids that we made up',
    seen: { resources: resources([madeUp]) },
    expect: { status: 'warn', outcome: 'made-up', evidence: ['GET /users/1: 404'] },
  },
  {
    name: 'a made-up id beside a resource that challenges',
    seen: { resources: resources([resource(), madeUp]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 with a made-up id'] },
  },
  {
    name: 'a made-up id that is answered, and not by 404',
    seen: { resources: resources([{ ...free, madeUp: true }]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /free: 200'] },
  },
  {
    name: 'a made-up id that challenges',
    seen: { resources: resources([resource({ madeUp: true })]) },
    expect: { status: 'pass', outcome: 'challenged' },
  },
  {
    name: 'nothing paid is declared or found',
    seen: { resources: resources([]) },
    expect: {
      status: 'fail',
      outcome: 'none-found',
      evidence: ['/openapi.json: 404', '/llms.txt'],
    },
  },
  {
    name: 'the plan could not be made within limits',
    seen: { resources: resources([], { planFailure: 'over 1 s of CPU' }) },
    expect: { status: 'fail', outcome: 'limits', evidence: ['over 1 s of CPU'] },
  },
  {
    name: 'only PUT, PATCH and DELETE are paid',
    seen: { resources: resources([], { otherMethods: 3 }) },
    expect: { status: 'warn', outcome: 'other-methods', evidence: ['3 paid operations'] },
  },
  {
    name: 'the OpenAPI document names another origin as the server of the paid operations',
    seen: { resources: resources([], { elsewhere: ['https://api.other.example'] }) },
    expect: {
      status: 'fail',
      outcome: 'none-found',
      evidence: ['/openapi.json', 'https://api.other.example'],
    },
  },
  {
    name: 'the manifest lists resources here that the OpenAPI document serves from elsewhere',
    seen: { resources: resources([free], { elsewhere: ['https://api.other.example'] }) },
    expect: {
      status: 'fail',
      outcome: 'no-402',
      evidence: ['GET /free: 200', 'https://api.other.example'],
    },
  },
  {
    name: 'all that answers 402 asks for a sign-in',
    seen: { resources: resources([signIn]) },
    expect: { status: 'fail', outcome: 'none-found', evidence: ['1 ask for a sign-in'] },
  },
  {
    name: 'a sign-in beside a paid resource is counted, and is not a resource',
    seen: { resources: resources([resource(), signIn]) },
    expect: {
      status: 'pass',
      outcome: 'challenged',
      evidence: ['1 of 1 paid', '1 ask for a sign-in'],
    },
  },
  {
    name: 'only MPP',
    seen: { resources: resources([mpp]) },
    expect: {
      status: 'fail',
      outcome: 'other-protocol',
      evidence: ['asks over MPP, not over x402', 'GET /mpp: 402 (MPP)', 'methods: tempo'],
    },
  },
  {
    name: 'MPP and L402, each on its own resource',
    seen: { resources: resources([mpp, l402]) },
    expect: { status: 'fail', outcome: 'other-protocol', evidence: ['MPP and L402'] },
  },
  {
    name: 'MPP on one resource, a 402 without any challenge on another',
    seen: { resources: resources([mpp, resource({ get: answer(402), head: answer(402) })]) },
    expect: { status: 'fail', outcome: 'undecodable' },
  },
  {
    name: 'MPP on one resource, x402 on another: two tills, and nothing is wrong',
    seen: { resources: resources([mpp, resource()]) },
    expect: {
      status: 'pass',
      outcome: 'challenged',
      evidence: ['1 of 1 paid', '1 more is sold over MPP: tempo'],
    },
  },
  {
    name: 'two resources are sold over MPP, by two methods, beside one of x402',
    seen: { resources: resources([resource(), mpp, stripe]) },
    expect: {
      status: 'pass',
      outcome: 'challenged',
      evidence: ['1 of 1 paid', '2 more are sold over MPP: tempo, stripe'],
    },
  },
  {
    name: 'MPP, L402 and x402, each on its own resource',
    seen: { resources: resources([mpp, l402, resource()]) },
    expect: {
      status: 'pass',
      outcome: 'challenged',
      evidence: ['2 more are sold over MPP and L402: tempo'],
    },
  },
  {
    name: 'a resource that speaks both is judged by its x402 half',
    seen: { resources: resources([both402]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1 paid'] },
  },
  {
    name: 'MPP beside x402 excuses no free resource',
    seen: { resources: resources([resource(), mpp, free]) },
    expect: {
      status: 'warn',
      outcome: 'some-missing',
      evidence: ['asked for payment; GET /free: 200', '1 more is sold over MPP: tempo'],
    },
  },
  {
    name: 'MPP beside version 1 of x402',
    seen: { resources: resources([resource({ get: bodyChallenge402() }), mpp]) },
    expect: {
      status: 'warn',
      outcome: 'v1-only',
      evidence: ['1 of 1 challenges are version 1', '1 more is sold over MPP: tempo'],
    },
  },
  {
    name: 'a price in MPP beside a sign-in of x402',
    seen: { resources: resources([signInOverMpp]) },
    expect: {
      status: 'fail',
      outcome: 'other-protocol',
      evidence: ['asks over MPP', 'methods: tempo'],
    },
  },
  {
    name: 'the one paid resource answers 200 unpaid',
    seen: { resources: resources([free]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /free: 200'] },
  },
  {
    name: 'every paid route is 500 while the facilitator is away',
    seen: { resources: resources([resource({ get: answer(500), head: answer(500) })]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /weather: 500'] },
  },
  {
    name: 'no paid resource answers in time',
    seen: { resources: resources([resource({ get: failure('timeout'), head: failure('reset') })]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /weather: timeout'] },
  },
  {
    name: 'every GET validates first: nothing shows that it is paid',
    seen: { resources: resources([resource({ get: answer(422) })]) },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['422'] },
  },
  {
    name: '402 with a page for people and no challenge',
    seen: { resources: resources([resource({ get: html(402, '<h1>Pay</h1>') })]) },
    expect: { status: 'fail', outcome: 'undecodable', evidence: ['GET /weather: 402'] },
  },
  {
    name: '402 with JSON that is not a challenge',
    seen: { resources: resources([resource({ get: answer(402, { error: 'Pay' }) })]) },
    expect: { status: 'fail', outcome: 'undecodable' },
  },
  {
    name: 'a GET that validates first, beside one that challenges',
    seen: { resources: resources([resource(), resource({ path: '/city', get: answer(400) })]) },
    expect: {
      status: 'warn',
      outcome: 'validates-first',
      evidence: ['1 of 2 paid', 'GET /city: 400'],
    },
  },
  {
    name: 'one of two resources is free',
    seen: { resources: resources([resource(), free]) },
    expect: {
      status: 'warn',
      outcome: 'some-missing',
      evidence: ['1 of 2 paid', 'GET /free: 200'],
    },
  },
  {
    name: 'one answers 403, which does not count as validation',
    seen: { resources: resources([resource(), resource({ path: '/b', get: answer(403) })]) },
    expect: { status: 'warn', outcome: 'some-missing', evidence: ['GET /b: 403'] },
  },
  {
    name: 'a version 1 challenge, in the body',
    seen: { resources: resources([resource({ get: bodyChallenge402() })]) },
    expect: {
      status: 'warn',
      outcome: 'v1-only',
      evidence: ['1 of 1 challenges are version 1', 'GET /weather'],
    },
  },
  {
    name: 'one of two resources still speaks version 1',
    seen: { resources: resources([resource(), resource({ path: '/b', get: bodyChallenge402() })]) },
    expect: {
      status: 'warn',
      outcome: 'v1-only',
      evidence: ['1 of 2 challenges are version 1', 'GET /b'],
    },
  },
  {
    name: 'version 2 in the header, version 1 in the body for old clients',
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
    name: 'a body-only challenge of version 2 is a challenge: its header is for P4',
    seen: { resources: resources([resource({ get: bodyChallenge402(challengeV2()) })]) },
    expect: { status: 'pass', outcome: 'challenged' },
  },
  {
    name: 'a paid GET that knows no HEAD',
    seen: { resources: resources([resource({ head: answer(405) })]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1 paid'] },
  },
  {
    name: '6 of 41 resources probed, all challenge',
    seen: {
      resources: resources(
        ['/a', '/b', '/c', '/d', '/e', '/f'].map((path) => resource({ path })),
        { declared: 41 },
      ),
    },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['6 of 6', '6 of 41'] },
  },
  {
    name: 'a candidate that nobody declared, seen to answer 402',
    seen: {
      resources: resources([resource({ declaredPaid: false, sources: ['llms'] })], { declared: 1 }),
    },
    expect: { status: 'pass', outcome: 'challenged' },
  },
];

const withoutPost: readonly CheckCase[] = [
  {
    name: 'POST resources only',
    versions: [1],
    seen: { resources: resources([unsentPost]), probing: { post: false } },
    expect: {
      status: 'warn',
      outcome: 'post-unsent',
      evidence: ['this catalog does not send', '1 paid resources'],
    },
  },
  {
    name: 'no method declared, and GET is 404: it may be a POST',
    versions: [1],
    seen: {
      resources: resources([resource({ method: null, get: NOT_FOUND, head: NOT_FOUND })]),
      probing: { post: false },
    },
    expect: { status: 'warn', outcome: 'post-unsent' },
  },
  {
    name: 'a GET that challenges beside a POST that was not sent',
    versions: [1],
    seen: { resources: resources([resource(), unsentPost]), probing: { post: false } },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1 paid'] },
  },
  {
    name: 'a POST that was not sent excuses no free GET',
    versions: [1],
    seen: { resources: resources([free, unsentPost]), probing: { post: false } },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['GET /free: 200'] },
  },
];

/** A router that puts a slash behind the path, and challenges there. */
const slashed = resource({
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

const withPost: readonly CheckCase[] = [
  {
    name: 'a POST that is challenged behind a redirect to its own origin',
    versions: [2],
    seen: { resources: resources([slashed]) },
    expect: {
      status: 'warn',
      outcome: 'redirected',
      evidence: ['POST /sum: 307 to "/sum/"', 'TypeScript', 'Python'],
    },
  },
  {
    name: 'a POST that redirects elsewhere',
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
    name: 'FastAPI validates the body of every POST before it challenges',
    versions: [2],
    seen: { resources: resources([post422]) },
    expect: {
      status: 'warn',
      outcome: 'validates-only',
      evidence: ['POST /summaries: 422', 'before input was validated'],
    },
  },
  {
    name: 'a key is asked for before the payment',
    versions: [2],
    seen: { resources: resources([resource({ method: 'POST', post: answer(401) })]) },
    expect: { status: 'warn', outcome: 'validates-only', evidence: ['401'] },
  },
  {
    name: 'no method declared: GET 405 and a validating POST',
    versions: [2],
    seen: {
      resources: resources([resource({ method: null, get: answer(405), post: answer(400) })]),
    },
    expect: { status: 'warn', outcome: 'validates-only', evidence: ['POST /weather: 400'] },
  },
  {
    name: 'one POST validates, another runs the handler unpaid',
    versions: [2],
    seen: {
      resources: resources([
        post422,
        resource({ method: 'POST', path: '/open', post: answer(200, { ok: true }) }),
      ]),
    },
    expect: { status: 'fail', outcome: 'no-402', evidence: ['POST /open: 200'] },
  },
  {
    name: 'a POST that validates first beside a GET that challenges',
    versions: [2],
    seen: { resources: resources([resource(), post422]) },
    expect: {
      status: 'warn',
      outcome: 'validates-first',
      evidence: ['1 of 2 paid', 'POST /summaries: 422'],
    },
  },
  {
    name: 'GET is declared, only POST gets the challenge',
    versions: [2],
    seen: {
      resources: resources([
        resource({ get: answer(405), head: answer(405), post: challenge402() }),
      ]),
    },
    expect: {
      status: 'warn',
      outcome: 'post-only',
      evidence: ['GET /weather: 405', 'POST /weather: 402'],
    },
  },
  {
    name: 'no method declared, the challenge comes to POST: nothing is wrong',
    versions: [2],
    seen: {
      resources: resources([resource({ method: null, get: NOT_FOUND, post: challenge402() })]),
    },
    expect: { status: 'pass', outcome: 'challenged' },
  },
  {
    name: 'a recording of a catalog without POST',
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
    name: 'paid tools that nobody annotated as read-only',
    versions: [2],
    seen: { resources: resources([], { uncalledTools: 2 }) },
    expect: { status: 'warn', outcome: 'tools-uncalled', evidence: ['2 paid tools'] },
  },
  {
    name: 'a tool that challenges',
    versions: [2],
    seen: { resources: resources([toolResource()]) },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1'] },
  },
  {
    name: 'a recording without POST, with a GET that challenges',
    versions: [2],
    seen: { resources: resources([resource(), unsentPost]), probing: { post: false } },
    expect: { status: 'pass', outcome: 'challenged', evidence: ['1 of 1'] },
  },
];

const cases = [...both, ...withoutPost, ...withPost];

export default cases;
