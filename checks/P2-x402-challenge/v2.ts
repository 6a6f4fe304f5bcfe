/** P2: paid resources answer an unpaid GET or POST with a challenge. Rule and sources: README.md. */
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
  listed,
  listRedirected,
  MISSING_402_OUTCOMES,
  NOTHING_PAID_OUTCOMES,
  notSeen,
  pass,
  unplanned,
  VERSION_2_FIX,
  warn,
} from '#check';
import type { Kit } from '#kit';
import type { HttpObservation, ResourceObservation, ResourceSet } from '#model';

const ORDER_FIX =
  'Check payment before input: a call without valid input must be answered with 402.';
const REDIRECT_NOTE = 'TypeScript clients follow this by default, Python clients do not';

const OUTCOMES = {
  ...NOTHING_PAID_OUTCOMES,
  'other-methods': warn('Offer at least one paid GET or POST.'),
  'tools-uncalled': warn('Annotate paid tools that only read with readOnlyHint: true.'),
  'made-up': warn('Declare an example of each path and query parameter: scanners ask with it.'),
  ...ANSWERED_402_OUTCOMES,
  'validates-only': warn(ORDER_FIX),
  ...MISSING_402_OUTCOMES,
  'validates-first': warn(ORDER_FIX),
  'some-missing': warn(CHALLENGE_FIX),
  redirected: warn('Answer POST at exactly the declared path, with or without its last slash.'),
  'v1-only': warn(VERSION_2_FIX),
  challenged: pass('Keep the payment check before everything else.'),
};
type Result = Finding<keyof typeof OUTCOMES>;

export default defineCheck({
  id: 'P2',
  version: 2,
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
    const unsentPosts = unchallenged.filter((resource) => needsUnsentPost(resource, kit));
    const failingResources = unchallenged.filter((resource) => !unsentPosts.includes(resource));
    const askingCount = judged.length - unchallenged.length;
    if (askingCount === 0) return judgeNoChallenge(failingResources, unsentPosts, resources, kit);

    const uncountedNote = formatUncountedNote(resources, kit);
    const summary = `${askingCount} of ${askingCount + failingResources.length} paid resources asked for payment`;
    if (failingResources.length > 0) {
      const isInputFirst = failingResources.every((resource) => kit.validatesFirst(resource));
      const evidence = `${summary}; ${kit.answers(failingResources)}${uncountedNote}`;
      return isInputFirst
        ? ['validates-first', evidence]
        : ['some-missing', evidence, findMissingFix(failingResources, kit)];
    }
    const redirected = listRedirected('POST', challenged, kit);
    if (redirected.length > 0)
      return ['redirected', `${listed(redirected)}: ${REDIRECT_NOTE}${uncountedNote}`];
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
  const { otherMethods, uncalledTools = 0 } = resources;
  if (otherMethods > 0) {
    const evidence = `${otherMethods} paid operations take only methods that we do not send`;
    return ['other-methods', evidence];
  }
  if (uncalledTools > 0) {
    return [
      'tools-uncalled',
      `we called none of ${uncalledTools} paid tools: none is annotated as read-only`,
    ];
  }
  return judgeNoneFound(resources, soft404, kit);
}

function judgeNoChallenge(
  failingResources: readonly ResourceObservation[],
  unsentPosts: readonly ResourceObservation[],
  resources: ResourceSet,
  kit: Kit,
): Result {
  const finding = judgeMisplaced(failingResources, kit);
  if (finding !== null) return finding;
  // A recording of an older catalog has no POST. A scan sends none if the documents contradict each other about the price.
  if (unsentPosts.length > 0) {
    return notSeen(
      'unseen',
      `${unsentPosts.length} resources need a POST, and none was sent`,
      ORDER_FIX,
    );
  }
  // The scan sends these no valid input: a valid body could run the handler, and a made-up value may be wrong.
  const withoutValidInput = failingResources.filter(
    (resource) => kit.isPostOnly(resource) || resource.madeUp === true,
  );
  if (
    withoutValidInput.length > 0 &&
    withoutValidInput.every((resource) => kit.validatesFirst(resource))
  ) {
    const evidence = `no challenge came before input was validated: ${kit.answers(failingResources)}`;
    return ['validates-only', evidence];
  }
  return judgeMissing402(failingResources, resources, kit);
}

function needsUnsentPost(resource: ResourceObservation, kit: Kit): boolean {
  return kit.isPostOnly(resource) && kit.status(resource, 'POST') === undefined;
}
