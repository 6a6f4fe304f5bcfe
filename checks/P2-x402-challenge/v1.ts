/** P2: paid resources challenge an unpaid GET; for catalogs that send no POST. Rule: README.md. */
import {
  defineCheck,
  type Finding,
  fail,
  pass,
  unplanned,
  warn,
} from '../../src/engine/define-check.ts';
import type { ResourceObservation, ResourceSet } from '../../src/model/observations.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

const CHALLENGE_FIX = 'Mount the x402 middleware before the route and check its facilitator URL.';
const ORDER_FIX = 'Check payment before input: a bare request must be answered with 402.';
const FIREWALL_FIX =
  'Let unpaid callers through the firewall: exempt the paid paths from its bot protection.';
const ELSEWHERE_FIX = 'Scan the origin that the OpenAPI document names as its server.';

const MAX_METHODS = 5;

const OUTCOMES = {
  'none-found': fail('Declare each paid operation in /openapi.json with x-payment-info and a 402.'),
  'other-methods': warn('Offer at least one paid GET or POST.'),
  'post-unsent': warn('Offer at least one paid GET, which every crawler sends.'),
  'made-up': warn('Declare an example of each path and query parameter: scanners ask with it.'),
  'other-protocol': fail('Offer x402 too: mount an x402 middleware on the same routes.'),
  undecodable: fail('Send the challenge as base64 of JSON in PAYMENT-REQUIRED with each 402.'),
  'no-402': fail(CHALLENGE_FIX),
  'validates-first': warn(ORDER_FIX),
  'some-missing': warn(CHALLENGE_FIX),
  'v1-only': warn('Move to x402 version 2: @x402/express or @x402/next, or x402 2.x for Python.'),
  challenged: pass('Keep the payment check before everything else.'),
};
type Result = Finding<keyof typeof OUTCOMES>;

export default defineCheck({
  id: 'P2',
  version: 1,
  says: {
    right: 'Paid resources ask unpaid callers for payment over x402.',
    wrong: 'Paid resources do not ask unpaid callers for payment over x402.',
    unjudged: 'It is not known whether paid resources ask for payment over x402.',
  },
  needs: ['resources'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ resources }, kit) {
    const { probed, declared, elsewhere = [], planFailure } = resources;
    if (planFailure !== undefined) return unplanned(planFailure);
    const signIns = kit.signIns(resources);
    const selling = kit.selling(resources);
    if (selling.length === 0) return nothingPaid(resources, signIns.length);
    const madeUp = selling.filter((one) => kit.isMadeUp(one));
    const paid = selling.filter((one) => !madeUp.includes(one));
    if (paid.length === 0) {
      return ['made-up', `we had only made-up ids to ask paid paths with: ${kit.answers(madeUp)}`];
    }

    const challenged = kit.challenged(resources);
    const asking = paid.filter((one) => challenged.some(({ resource }) => resource === one));
    const missing = paid.filter((one) => !asking.includes(one));
    const silent = missing.filter((one) => !kit.isPostOnly(one));
    if (asking.length === 0) return nothingChallenged(silent, missing, elsewhere, kit);

    const more = kit.moreSold(resources);
    const apart = more === null ? '' : `; ${more}`;
    const count = `${asking.length} of ${asking.length + silent.length} paid resources asked for payment`;
    if (silent.length > 0) {
      const isOrder = silent.every((one) => kit.validatesFirst(one));
      const evidence = `${count}; ${kit.answers(silent)}${apart}`;
      return isOrder
        ? ['validates-first', evidence]
        : ['some-missing', evidence, firewallFix(silent, kit)];
    }
    const old = challenged.filter(({ reading }) => reading.challenge.version === 1);
    if (old.length > 0) {
      const list = kit.answers(old.map(({ resource }) => resource));
      return [
        'v1-only',
        `${old.length} of ${challenged.length} challenges are version 1: ${list}${apart}`,
      ];
    }
    const free = signIns.length > 0 ? `; ${signIns.length} ask for a sign-in` : '';
    const unknown = madeUp.length > 0 ? `; we asked ${madeUp.length} with a made-up id` : '';
    const sampleSize = probed.length - signIns.length - madeUp.length;
    const sample =
      sampleSize === declared ? '' : `; we asked ${sampleSize} of ${declared} declared`;
    return ['challenged', `${count}${sample}${apart}${free}${unknown}`];
  },
});

function nothingPaid(
  { otherMethods, looked, elsewhere = [] }: ResourceSet,
  signIns: number,
): Result {
  if (otherMethods > 0) {
    const evidence = `${otherMethods} paid operations take only methods that we do not send`;
    return ['other-methods', evidence];
  }
  if (elsewhere.length > 0) {
    return ['none-found', serversText(elsewhere), ELSEWHERE_FIX];
  }
  const free = signIns > 0 ? `${signIns} ask for a sign-in and for no price; ` : '';
  return [
    'none-found',
    `nothing declares a paid path: ${free}${looked.join('; ')}`,
    looked.length > 0 && looked.every((one) => one.endsWith(': 403')) ? FIREWALL_FIX : undefined,
  ];
}

function nothingChallenged(
  silent: readonly ResourceObservation[],
  missing: readonly ResourceObservation[],
  elsewhere: readonly string[],
  kit: Kit,
): Result {
  if (silent.length === 0) {
    const evidence = `${missing.length} paid resources need a POST, which this catalog does not send`;
    return ['post-unsent', evidence];
  }
  return withoutChallenge(silent, kit) ?? missing402(silent, elsewhere, kit);
}

function missing402(
  silent: readonly ResourceObservation[],
  elsewhere: readonly string[],
  kit: Kit,
): Result {
  const answers = kit.answers(silent);
  if (elsewhere.length === 0) return ['no-402', answers, firewallFix(silent, kit)];
  return ['no-402', `${answers}; ${serversText(elsewhere)}`, ELSEWHERE_FIX];
}

/** A firewall or a bot protection answers every unpaid caller with 403. */
function firewallFix(silent: readonly ResourceObservation[], kit: Kit): string | undefined {
  const isRefused = (one: ResourceObservation) =>
    kit.status(one, 'GET') === 403 || kit.status(one, 'POST') === 403;
  return silent.every(isRefused) ? FIREWALL_FIX : undefined;
}

function serversText(elsewhere: readonly string[]): string {
  return `/openapi.json serves its paid operations from ${elsewhere.join(', ')}`;
}

/** A 402 that speaks only MPP or L402 is not x402 badly encoded. */
function withoutChallenge(silent: readonly ResourceObservation[], kit: Kit): Result | null {
  const answers = silent
    .flatMap(({ probes }) => probes)
    .filter(({ method, number }) => method !== 'HEAD' && number === 1)
    .flatMap(({ answer }) => (answer.ok && answer.data.status === 402 ? [answer.data] : []));
  if (answers.length === 0) return null;
  const others = answers.map((answer) => kit.otherChallenges(answer));
  if (others.some(({ length }) => length === 0)) {
    return ['undecodable', `the 402 has no challenge that we can decode: ${kit.answers(silent)}`];
  }
  const spoken = [...new Set(others.flat().map(({ protocol }) => protocol))].join(' and ');
  const methods = [...new Set(others.flat().flatMap((one) => one.methods))].slice(0, MAX_METHODS);
  const by = methods.length === 0 ? '' : `; methods: ${methods.join(', ')}`;
  return [
    'other-protocol',
    `the 402 asks over ${spoken}, not over x402: ${kit.answers(silent)}${by}`,
  ];
}
