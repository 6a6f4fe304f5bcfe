import { hasPaidPart, isPaidBody } from '../paid-body.ts';
import { judgeGift, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

/** T3: the facilitator answers `isValid: false`. */
export async function obeysVerify(tester: RouteTester): Promise<TrialFinding> {
  const { nonce, isDelivered, description } = await tester.attempt(
    {},
    { step: 'verify', fault: 'refuse' },
  );
  const isSettled = tester.ledger.calls(nonce, 'settle').length > 0;
  return {
    status: isDelivered || isSettled ? 'fail' : 'pass',
    evidence: `verify said isValid: false: ${description}`,
    isGift: isDelivered,
  };
}

/** T5: the facilitator answers settle with `success: false`. */
export async function obeysSettle(tester: RouteTester): Promise<TrialFinding> {
  const { version, reply, isDelivered, description } = await tester.attempt(
    {},
    { step: 'settle', fault: 'refuse' },
  );
  const { paid } = tester;
  const evidence = `settle said success: false: ${description}`;
  if (!reply.ok || paid === null) return judgeGift(isDelivered, evidence);
  if (isPaidBody(paid, reply.body)) {
    return judgeGift(true, `${evidence}, with the body of the resource`);
  }
  const isPreview = !isDelivered && hasPaidPart(paid, reply.body, version);
  const suffix = isPreview ? ', with the resource inside the body of the refusal' : '';
  return judgeGift(isDelivered || isPreview, `${evidence}${suffix}`);
}
