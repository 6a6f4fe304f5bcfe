/** P2 for catalogs that send no POST: paid resources answer GET with a challenge. Rule: README.md. */
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
    const { probed, declared, elsewhere: otherServers = [], planFailure } = resources;
    if (planFailure !== undefined) return unplanned(planFailure);
    const signIns = kit.signIns(resources);
    const selling = kit.selling(resources);
    if (selling.length === 0) return judgeNothingPaid(resources, signIns.length);
    const withMadeUpId = selling.filter((resource) => kit.isMadeUp(resource));
    const paid = selling.filter((resource) => !withMadeUpId.includes(resource));
    if (paid.length === 0) {
      return ['made-up', `every id in a paid path was made up: ${kit.answers(withMadeUpId)}`];
    }

    const challenged = kit.challenged(resources);
    const resourcesWithChallenge = new Set(challenged.map(({ resource }) => resource));
    const unchallenged = paid.filter((resource) => !resourcesWithChallenge.has(resource));
    const failingResources = unchallenged.filter((resource) => !kit.isPostOnly(resource));
    const challengedCount = paid.length - unchallenged.length;
    if (challengedCount === 0)
      return judgeNoChallenge(failingResources, unchallenged, otherServers, kit);

    const otherSales = kit.describeOtherSales(resources);
    const otherNote = otherSales === null ? '' : `; ${otherSales}`;
    const summary = `${challengedCount} of ${challengedCount + failingResources.length} paid resources asked for payment`;
    if (failingResources.length > 0) {
      const isInputFirst = failingResources.every((resource) => kit.validatesFirst(resource));
      const evidence = `${summary}; ${kit.answers(failingResources)}${otherNote}`;
      return isInputFirst
        ? ['validates-first', evidence]
        : ['some-missing', evidence, findFirewallFix(failingResources, kit)];
    }
    const version1 = challenged.filter(({ reading }) => reading.challenge.version === 1);
    if (version1.length > 0) {
      const list = kit.answers(version1.map(({ resource }) => resource));
      const evidence = `${version1.length} of ${challenged.length} challenges are version 1: ${list}${otherNote}`;
      return ['v1-only', evidence];
    }
    const signInNote = signIns.length > 0 ? `; ${signIns.length} ask for a sign-in` : '';
    const madeUpCount = withMadeUpId.length;
    const madeUpNote = madeUpCount > 0 ? `; we asked ${madeUpCount} with a made-up id` : '';
    const sampleSize = probed.length - signIns.length - madeUpCount;
    const sampleNote =
      sampleSize === declared ? '' : `; we asked ${sampleSize} of ${declared} declared`;
    return ['challenged', `${summary}${sampleNote}${otherNote}${signInNote}${madeUpNote}`];
  },
});

function judgeNothingPaid(
  { otherMethods, looked, elsewhere: otherServers = [] }: ResourceSet,
  signInCount: number,
): Result {
  if (otherMethods > 0) {
    const evidence = `${otherMethods} paid operations take only methods that we do not send`;
    return ['other-methods', evidence];
  }
  if (otherServers.length > 0) {
    return ['none-found', describeServers(otherServers), ELSEWHERE_FIX];
  }
  const signInNote = signInCount > 0 ? `${signInCount} ask for a sign-in and for no price; ` : '';
  const evidence = `nothing declares a paid path: ${signInNote}${looked.join('; ')}`;
  const isFirewalled = looked.length > 0 && looked.every((line) => line.endsWith(': 403'));
  return ['none-found', evidence, isFirewalled ? FIREWALL_FIX : undefined];
}

function judgeNoChallenge(
  failingResources: readonly ResourceObservation[],
  unchallenged: readonly ResourceObservation[],
  otherServers: readonly string[],
  kit: Kit,
): Result {
  if (failingResources.length === 0) {
    const evidence = `${unchallenged.length} paid resources need a POST, which this catalog does not send`;
    return ['post-unsent', evidence];
  }
  return (
    judgeOther402(failingResources, kit) ?? judgeMissing402(failingResources, otherServers, kit)
  );
}

function judgeMissing402(
  failingResources: readonly ResourceObservation[],
  otherServers: readonly string[],
  kit: Kit,
): Result {
  const answers = kit.answers(failingResources);
  if (otherServers.length === 0) return ['no-402', answers, findFirewallFix(failingResources, kit)];
  return ['no-402', `${answers}; ${describeServers(otherServers)}`, ELSEWHERE_FIX];
}

/** A firewall or a bot protection answers every unpaid caller with 403. */
function findFirewallFix(
  failingResources: readonly ResourceObservation[],
  kit: Kit,
): string | undefined {
  const isRefused = (resource: ResourceObservation) =>
    kit.status(resource, 'GET') === 403 || kit.status(resource, 'POST') === 403;
  return failingResources.every(isRefused) ? FIREWALL_FIX : undefined;
}

function describeServers(otherServers: readonly string[]): string {
  return `/openapi.json serves its paid operations from ${otherServers.join(', ')}`;
}

/** Judges resources that answer 402 without a challenge of x402; null if none answers 402. */
function judgeOther402(failingResources: readonly ResourceObservation[], kit: Kit): Result | null {
  const answers = failingResources
    .flatMap(({ probes }) => probes)
    .filter(({ method, number }) => method !== 'HEAD' && number === 1)
    .flatMap(({ answer }) => (answer.ok && answer.data.status === 402 ? [answer.data] : []));
  if (answers.length === 0) return null;
  const shown = kit.answers(failingResources);
  const challenges = answers.map((answer) => kit.otherChallenges(answer));
  if (challenges.some(({ length }) => length === 0)) {
    return ['undecodable', `the 402 has no challenge that we can decode: ${shown}`];
  }
  const protocols = [...new Set(challenges.flat().map(({ protocol }) => protocol))].join(' and ');
  const methods = [...new Set(challenges.flat().flatMap((each) => each.methods))].slice(
    0,
    MAX_METHODS,
  );
  const methodsNote = methods.length === 0 ? '' : `; methods: ${methods.join(', ')}`;
  const evidence = `the 402 asks over ${protocols}, not over x402: ${shown}${methodsNote}`;
  return ['other-protocol', evidence];
}
