/** P2: paid resources challenge unpaid requests, GET or `POST {}`. Rule and sources: README.md. */
import {
  defineCheck,
  type Finding,
  fail,
  pass,
  unplanned,
  warn,
} from '../../src/engine/define-check.ts';
import type { ResourceObservation, ResourceSet } from '../../src/model/observations.ts';
import { notSeen } from '../../src/model/verdict.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

/** What input validation answers where it runs before the payment check (x402 issues 1982, 2112). */
const VALIDATION: ReadonlySet<number | null | undefined> = new Set([400, 401, 422]);

const CHALLENGE_FIX = 'Mount the x402 middleware before the route and check its facilitator URL.';
const ORDER_FIX = 'Check payment before input: even an empty JSON body must be answered with 402.';
const FIND_FIX = 'Declare each paid operation in /openapi.json with x-payment-info and a 402.';

const OUTCOMES = {
  'none-found': fail(FIND_FIX),
  'other-methods': warn('Offer at least one paid GET or POST.'),
  undecodable: fail('Send the challenge as base64 of JSON in PAYMENT-REQUIRED with each 402.'),
  'validates-only': warn(ORDER_FIX),
  'no-402': fail(CHALLENGE_FIX),
  'validates-first': warn(ORDER_FIX),
  'some-missing': warn(CHALLENGE_FIX),
  'post-only': warn('Answer 402 to the method that the documents declare, or declare POST.'),
  'v1-only': warn('Move to x402 version 2: @x402/express or @x402/next, or x402 2.x for Python.'),
  challenged: pass('Keep the payment check before everything else.'),
};
type Result = Finding<keyof typeof OUTCOMES>;

export default defineCheck({
  id: 'P2',
  version: 2,
  says: {
    right: 'Paid resources ask unpaid callers for payment over x402.',
    wrong: 'Paid resources do not ask unpaid callers for payment over x402.',
  },
  needs: ['resources'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ resources }, kit) {
    const { probed, declared, planFailure } = resources;
    if (planFailure !== undefined) return unplanned(planFailure);
    if (probed.length === 0) return nothingProbed(resources);

    const challenged = kit.challenged(resources);
    const missing = probed.filter((one) => !challenged.some(({ resource }) => resource === one));
    const unsent = missing.filter((one) => isUnsent(one, kit));
    const silent = missing.filter((one) => !unsent.includes(one));
    if (challenged.length === 0) return nothingChallenged(silent, unsent, kit);

    const count = `${challenged.length} of ${challenged.length + silent.length} challenge`;
    if (silent.length > 0) {
      const name = silent.every((one) => validates(one, kit)) ? 'validates-first' : 'some-missing';
      return [name, `${count}; ${kit.answers(silent)}`];
    }
    const postOnly = challenged
      .map(({ resource }) => resource)
      .filter((one) => one.method === 'GET' && kit.status(one, 'GET') !== 402);
    if (postOnly.length > 0) {
      return ['post-only', `GET is declared, yet ${kit.answers(postOnly)}`];
    }
    const old = challenged.filter(({ reading }) => reading.challenge.version === 1);
    if (old.length > 0) {
      const list = kit.answers(old.map(({ resource }) => resource));
      return ['v1-only', `${old.length} of ${challenged.length} by version 1: ${list}`];
    }
    return ['challenged', `${count}; ${probed.length} of ${declared} paid resources probed`];
  },
});

function nothingProbed({ otherMethods, looked }: ResourceSet): Result {
  if (otherMethods === 0) return ['none-found', `no paid resource: ${looked.join('; ')}`];
  const evidence = `${otherMethods} paid operations, all by methods that we do not send`;
  return ['other-methods', evidence];
}

function nothingChallenged(
  silent: readonly ResourceObservation[],
  unsent: readonly ResourceObservation[],
  kit: Kit,
): Result {
  const list = kit.answers(silent);
  const has402 = (one: ResourceObservation) =>
    kit.status(one, 'GET') === 402 || kit.status(one, 'POST') === 402;
  if (silent.some(has402)) return ['undecodable', `no challenge in ${list}`];
  // A recording made under an older catalog.
  if (unsent.length > 0) {
    return notSeen('unseen', `${unsent.length} resources need a POST: none sent`, ORDER_FIX);
  }
  // A valid body would bring the challenge, or run the handler: none is sent.
  const posts = silent.filter((one) => kit.isPostOnly(one));
  if (posts.length > 0 && posts.every((one) => validates(one, kit))) {
    return ['validates-only', `no challenge, validation first: ${list}`];
  }
  return ['no-402', list];
}

function isUnsent(resource: ResourceObservation, kit: Kit): boolean {
  return kit.isPostOnly(resource) && kit.status(resource, 'POST') === undefined;
}

function validates(resource: ResourceObservation, kit: Kit): boolean {
  return VALIDATION.has(kit.status(resource, kit.isPostOnly(resource) ? 'POST' : 'GET'));
}
