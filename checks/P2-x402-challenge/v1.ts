/** P2 for catalogs that send no POST: paid resources answer GET with a challenge. Rule: README.md. */
import {
  ANSWERED_402_OUTCOMES,
  CHALLENGE_FIX,
  defineCheck,
  type Finding,
  findMissingFix,
  findVersion2Fix,
  formatSampleNote,
  formatUncountedNote,
  judgeMisplaced,
  judgeMissing402,
  judgeNoneFound,
  judgeNotKnown,
  MISSING_402_OUTCOMES,
  NOTHING_PAID_OUTCOMES,
  pass,
  unplanned,
  VERSION_2_FIX,
  warn,
} from '#check';
import type { Kit } from '#kit';
import type { HttpObservation, ResourceObservation, ResourceSet } from '#model';

const ORDER_FIX = 'Check payment before input: a bare request must be answered with 402.';

const OUTCOMES = {
  ...NOTHING_PAID_OUTCOMES,
  'other-methods': warn('Offer at least one paid GET or POST.'),
  'post-unsent': warn('Offer at least one paid GET, which every crawler sends.'),
  'made-up': warn('Declare an example of each path and query parameter: scanners ask with it.'),
  ...ANSWERED_402_OUTCOMES,
  ...MISSING_402_OUTCOMES,
  'validates-first': warn(ORDER_FIX),
  'some-missing': warn(CHALLENGE_FIX),
  'v1-only': warn(VERSION_2_FIX),
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
  needs: ['resources', 'soft404'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ resources, soft404 }, kit) {
    const { planFailure } = resources;
    if (planFailure !== undefined) return unplanned(planFailure);
    const selling = kit.selling(resources);
    if (selling.length === 0) {
      return judgeNotKnown(resources, kit) ?? judgeNothingPaid(resources, soft404, kit);
    }
    const madeUp404s = selling.filter((resource) => kit.isMadeUp(resource));
    const judged = selling.filter((resource) => !madeUp404s.includes(resource));
    if (judged.length === 0) {
      const evidence = `every id in a paid path was made up: ${kit.answers(madeUp404s)}`;
      return judgeNotKnown(resources, kit) ?? ['made-up', evidence];
    }

    const challenged = kit.challenged(resources);
    const resourcesWithChallenge = new Set(challenged.map(({ resource }) => resource));
    const unchallenged = judged.filter((resource) => !resourcesWithChallenge.has(resource));
    const failingResources = unchallenged.filter((resource) => !kit.isPostOnly(resource));
    const askingCount = judged.length - unchallenged.length;
    if (askingCount === 0) return judgeNoChallenge(failingResources, unchallenged, resources, kit);

    const uncountedNote = formatUncountedNote(resources, kit);
    const summary = `${askingCount} of ${askingCount + failingResources.length} paid resources asked for payment`;
    if (failingResources.length > 0) {
      const isInputFirst = failingResources.every((resource) => kit.validatesFirst(resource));
      const evidence = `${summary}; ${kit.answers(failingResources)}${uncountedNote}`;
      return isInputFirst
        ? ['validates-first', evidence]
        : ['some-missing', evidence, findMissingFix(failingResources, kit)];
    }
    const version1 = challenged.filter(({ reading }) => reading.challenge.version === 1);
    if (version1.length > 0) {
      const list = kit.answers(version1.map(({ resource }) => resource));
      const evidence = `${version1.length} of ${challenged.length} challenges are version 1: ${list}${uncountedNote}`;
      // The answer to a random path may show the seller's stack too.
      return [
        'v1-only',
        evidence,
        findVersion2Fix([...version1.map(({ probe }) => probe.answer), soft404], kit),
      ];
    }
    const sampleNote = formatSampleNote(resources, madeUp404s.length, soft404, kit);
    return ['challenged', `${summary}${uncountedNote}${sampleNote}`];
  },
});

function judgeNothingPaid(resources: ResourceSet, soft404: HttpObservation, kit: Kit): Result {
  const { otherMethods } = resources;
  if (otherMethods > 0) {
    const evidence = `${otherMethods} paid operations take only methods that we do not send`;
    return ['other-methods', evidence];
  }
  return judgeNoneFound(resources, soft404, kit);
}

function judgeNoChallenge(
  failingResources: readonly ResourceObservation[],
  unchallenged: readonly ResourceObservation[],
  resources: ResourceSet,
  kit: Kit,
): Result {
  if (failingResources.length === 0) {
    const evidence = `${unchallenged.length} paid resources need a POST, which this catalog does not send`;
    return ['post-unsent', evidence];
  }
  return judgeMisplaced(failingResources, kit) ?? judgeMissing402(failingResources, resources, kit);
}
