/** P2: paid resources challenge unpaid requests, GET or `POST {}`. Rule and sources: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import type { ResourceObservation, ResourceSet } from '../../src/model/observations.ts';
import { fail, notDetermined, pass, warn } from '../../src/model/verdict.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

/** What input validation answers where it runs before the payment check (x402 issues 1982, 2112). */
const VALIDATION: ReadonlySet<number | null | undefined> = new Set([400, 401, 422]);

const FIND_FIX = 'Declare each paid operation in /openapi.json with x-payment-info and a 402.';
const CHALLENGE_FIX = 'Mount the x402 middleware before the route and check its facilitator URL.';
const ENCODE_FIX = 'Send the challenge as base64 of JSON in PAYMENT-REQUIRED with each 402.';
const ORDER_FIX = 'Check payment before input: even an empty JSON body must be answered with 402.';
const METHOD_FIX = 'Answer 402 to the method that the documents declare, or declare POST.';
const V2_FIX = 'Move to x402 version 2: @x402/express or @x402/next, or x402 2.x for Python.';

export default defineCheck({
  id: 'P2',
  version: 2,
  needs: ['resources'],
  requires: ['P1'],
  outcomes: [
    'none-found',
    'other-methods',
    'undecodable',
    'validates-only',
    'no-402',
    'validates-first',
    'some-missing',
    'post-only',
    'v1-only',
    'challenged',
  ],

  evaluate({ resources }, kit) {
    const { probed, declared, planFailure } = resources;
    if (planFailure !== undefined) return fail('limits', `no plan: ${planFailure}`, FIND_FIX);
    if (probed.length === 0) return nothingProbed(resources);

    const challenged = kit.challenged(resources);
    const missing = probed.filter((one) => !challenged.some(({ resource }) => resource === one));
    const unsent = missing.filter((one) => isUnsent(one, kit));
    const silent = missing.filter((one) => !unsent.includes(one));
    if (challenged.length === 0) return nothingChallenged(silent, unsent, kit);

    const count = `${challenged.length} of ${challenged.length + silent.length} challenge`;
    if (silent.length > 0) {
      const evidence = `${count}; ${kit.answers(silent)}`;
      if (silent.every((one) => validates(one, kit))) {
        return warn('validates-first', evidence, ORDER_FIX);
      }
      return warn('some-missing', evidence, CHALLENGE_FIX);
    }
    const postOnly = challenged
      .map(({ resource }) => resource)
      .filter((one) => one.method === 'GET' && kit.status(one, 'GET') !== 402);
    if (postOnly.length > 0) {
      return warn('post-only', `GET is declared, yet ${kit.answers(postOnly)}`, METHOD_FIX);
    }
    const old = challenged.filter(({ reading }) => reading.challenge.version === 1);
    if (old.length > 0) {
      const list = kit.answers(old.map(({ resource }) => resource));
      return warn('v1-only', `${old.length} of ${challenged.length} by version 1: ${list}`, V2_FIX);
    }
    const evidence = `${count}; ${probed.length} of ${declared} paid resources probed`;
    return pass('challenged', evidence, 'Keep the payment check before everything else.');
  },
});

function nothingProbed({ otherMethods, looked }: ResourceSet) {
  if (otherMethods === 0) {
    return fail('none-found', `no paid resource: ${looked.join('; ')}`, FIND_FIX);
  }
  const evidence = `${otherMethods} paid operations, all by methods that we do not send`;
  return warn('other-methods', evidence, 'Offer at least one paid GET or POST.');
}

function nothingChallenged(
  silent: readonly ResourceObservation[],
  unsent: readonly ResourceObservation[],
  kit: Kit,
) {
  const list = kit.answers(silent);
  const has402 = (one: ResourceObservation) =>
    kit.status(one, 'GET') === 402 || kit.status(one, 'POST') === 402;
  if (silent.some(has402)) return fail('undecodable', `no challenge in ${list}`, ENCODE_FIX);
  // A recording made under an older catalog.
  if (unsent.length > 0) {
    return notDetermined('unseen', `${unsent.length} resources need a POST: none sent`, ORDER_FIX);
  }
  // A valid body would bring the challenge, or run the handler: none is sent.
  const posts = silent.filter((one) => kit.isPostOnly(one));
  if (posts.length > 0 && posts.every((one) => validates(one, kit))) {
    return warn('validates-only', `no challenge, validation first: ${list}`, ORDER_FIX);
  }
  return fail('no-402', list, CHALLENGE_FIX);
}

function isUnsent(resource: ResourceObservation, kit: Kit): boolean {
  return kit.isPostOnly(resource) && kit.status(resource, 'POST') === undefined;
}

function validates(resource: ResourceObservation, kit: Kit): boolean {
  return VALIDATION.has(kit.status(resource, kit.isPostOnly(resource) ? 'POST' : 'GET'));
}
