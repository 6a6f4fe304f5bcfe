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

/** What input validation answers where it runs before the payment check (x402 issues 1982, 2112). */
const VALIDATION: ReadonlySet<number | null | undefined> = new Set([400, 401, 422]);

const CHALLENGE_FIX = 'Mount the x402 middleware before the route and check its facilitator URL.';
const ORDER_FIX = 'Check payment before input: a bare request must be answered with 402.';
const FIND_FIX = 'Declare each paid operation in /openapi.json with x-payment-info and a 402.';

const OUTCOMES = {
  'none-found': fail(FIND_FIX),
  'other-methods': warn('Offer at least one paid GET or POST.'),
  'post-unsent': warn('Offer at least one paid GET, which every crawler sends.'),
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
    const silent = missing.filter((one) => !kit.isPostOnly(one));
    if (challenged.length === 0) return nothingChallenged(silent, missing, kit);

    const count = `${challenged.length} of ${challenged.length + silent.length} challenge`;
    if (silent.length > 0) {
      const isValidation = silent.every((one) => VALIDATION.has(kit.status(one, 'GET')));
      const name = isValidation ? 'validates-first' : 'some-missing';
      return [name, `${count}; ${kit.answers(silent)}`];
    }
    const old = challenged.filter(({ reading }) => reading.challenge.version === 1);
    if (old.length > 0) {
      const list = kit.answers(old.map(({ resource }) => resource));
      return ['v1-only', `${old.length} of ${challenged.length} by version 1: ${list}`];
    }
    return ['challenged', `${count}; ${probed.length} of ${declared} paid resources looked at`];
  },
});

function nothingProbed({ otherMethods, looked }: ResourceSet): Result {
  if (otherMethods === 0) return ['none-found', `no paid resource: ${looked.join('; ')}`];
  const evidence = `${otherMethods} paid operations, all by methods that we do not send`;
  return ['other-methods', evidence];
}

function nothingChallenged(
  silent: readonly ResourceObservation[],
  missing: readonly ResourceObservation[],
  kit: Kit,
): Result {
  if (silent.length === 0) {
    const evidence = `this catalog sends no POST, which ${missing.length} paid resources need`;
    return ['post-unsent', evidence];
  }
  const list = kit.answers(silent);
  if (silent.some((one) => kit.status(one, 'GET') === 402)) {
    return ['undecodable', `no challenge in ${list}`];
  }
  return ['no-402', list];
}
