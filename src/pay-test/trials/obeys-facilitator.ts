import { isPaidBody } from '../replies.ts';
import { type Finding, judgeGift } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

/** T3: the facilitator answers `isValid: false`. */
export async function obeysVerify(tester: RouteTester): Promise<Finding> {
  const { nonce, isDelivered, seen } = await tester.attempt(
    {},
    { step: 'verify', fault: 'refuse' },
  );
  const isSettled = tester.ledger.calls(nonce, 'settle').length > 0;
  return {
    status: isDelivered || isSettled ? 'fail' : 'pass',
    evidence: `verify said isValid: false: ${seen}`,
    isGift: isDelivered,
  };
}

/** T5: the facilitator answers settle with `success: false`. */
export async function obeysSettle(tester: RouteTester): Promise<Finding> {
  const { reply, isDelivered, seen } = await tester.attempt(
    {},
    { step: 'settle', fault: 'refuse' },
  );
  const isSent = reply.ok && tester.paid !== null && isPaidBody(tester.paid, reply.body);
  const body = isSent ? ', with the body of the resource' : '';
  return judgeGift(isDelivered || isSent, `settle said success: false: ${seen}${body}`);
}
