/** P2: paid resources challenge an unpaid GET; for catalogs that send no POST. Rule: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import type { ResourceObservation, ResourceSet } from '../../src/model/observations.ts';
import { fail, pass, warn } from '../../src/model/verdict.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

/** What input validation answers where it runs before the payment check (x402 issues 1982, 2112). */
const VALIDATION: ReadonlySet<number | null | undefined> = new Set([400, 401, 422]);

const FIND_FIX = 'Declare each paid operation in /openapi.json with x-payment-info and a 402.';
const CHALLENGE_FIX = 'Mount the x402 middleware before the route and check its facilitator URL.';
const ENCODE_FIX = 'Send the challenge as base64 of JSON in PAYMENT-REQUIRED with each 402.';
const ORDER_FIX = 'Check payment before input: a bare request must be answered with 402.';
const V2_FIX = 'Move to x402 version 2: @x402/express or @x402/next, or x402 2.x for Python.';

export default defineCheck({
  id: 'P2',
  version: 1,
  needs: ['resources'],
  requires: ['P1'],
  outcomes: [
    'none-found',
    'other-methods',
    'post-unsent',
    'undecodable',
    'no-402',
    'validates-first',
    'some-missing',
    'v1-only',
    'challenged',
  ],

  evaluate({ resources }, kit) {
    const { probed, declared, planFailure } = resources;
    if (planFailure !== undefined) return fail('limits', `no plan: ${planFailure}`, FIND_FIX);
    if (probed.length === 0) return nothingProbed(resources);

    const challenged = kit.challenged(resources);
    const missing = probed.filter((one) => !challenged.some(({ resource }) => resource === one));
    const silent = missing.filter((one) => !kit.isPostOnly(one));
    if (challenged.length === 0) return nothingChallenged(silent, missing, kit);

    const count = `${challenged.length} of ${challenged.length + silent.length} challenge`;
    if (silent.length > 0) {
      const evidence = `${count}; ${kit.answers(silent)}`;
      if (silent.every((one) => VALIDATION.has(kit.status(one, 'GET')))) {
        return warn('validates-first', evidence, ORDER_FIX);
      }
      return warn('some-missing', evidence, CHALLENGE_FIX);
    }
    const old = challenged.filter(({ reading }) => reading.challenge.version === 1);
    if (old.length > 0) {
      const list = kit.answers(old.map(({ resource }) => resource));
      return warn('v1-only', `${old.length} of ${challenged.length} by version 1: ${list}`, V2_FIX);
    }
    const evidence = `${count}; ${probed.length} of ${declared} paid resources looked at`;
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
  missing: readonly ResourceObservation[],
  kit: Kit,
) {
  if (silent.length === 0) {
    const evidence = `this catalog sends no POST, which ${missing.length} paid resources need`;
    return warn('post-unsent', evidence, 'Offer at least one paid GET, which every crawler sends.');
  }
  const list = kit.answers(silent);
  if (silent.some((one) => kit.status(one, 'GET') === 402)) {
    return fail('undecodable', `no challenge in ${list}`, ENCODE_FIX);
  }
  return fail('no-402', list, CHALLENGE_FIX);
}
