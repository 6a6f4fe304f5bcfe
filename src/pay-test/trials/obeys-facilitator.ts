import { hasPaidPart, isPaidBody } from '../paid-body.ts';
import { judgeGift, notRun, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

/** Reason why a trial that needs a call to verify did not run. */
export const CHECKS_ITSELF = 'checks payments itself: T5 shows whether settle is obeyed';

/** T3: the seller must not deliver or settle if the facilitator answers verify with `isValid: false`. */
export async function tryRefusedVerify(tester: RouteTester): Promise<TrialFinding> {
  const { nonce, isDelivered, description } = await tester.signAndSend(
    {},
    { step: 'verify', fault: 'refuse' },
  );
  const hasVerifyCall = tester.ledger.listCalls(nonce, 'verify').length > 0;
  const isSettled = tester.ledger.findSettlement(nonce) !== null;
  if (!hasVerifyCall && (isSettled || !isDelivered))
    return notRun(`${description}: ${CHECKS_ITSELF}`);
  const hasSettleCall = tester.ledger.listCalls(nonce, 'settle').length > 0;
  return {
    status: isDelivered || hasSettleCall ? 'fail' : 'pass',
    evidence: `verify said isValid: false: ${description}`,
    isGift: isDelivered,
  };
}

/** T5: the seller must not deliver if the facilitator answers settle with `success: false`. */
export async function tryRefusedSettle(tester: RouteTester): Promise<TrialFinding> {
  const { version, reply, isDelivered, description } = await tester.signAndSend(
    {},
    { step: 'settle', fault: 'refuse' },
  );
  const { paidAnswer } = tester;
  const evidence = `settle said success: false: ${description}`;
  if (!reply.ok || paidAnswer === null) return judgeGift(isDelivered, evidence);
  if (isPaidBody(paidAnswer, reply.body))
    return judgeGift(true, `${evidence}, with the body of the resource`);
  const isPreview = !isDelivered && hasPaidPart(paidAnswer, reply.body, version);
  const suffix = isPreview ? ', with the resource inside the body of the refusal' : '';
  return judgeGift(isDelivered || isPreview, `${evidence}${suffix}`);
}
