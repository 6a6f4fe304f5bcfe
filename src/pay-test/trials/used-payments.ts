import { describeReply, isDelivery, isRedelivery } from '../replies.ts';
import { judgeGift, notRun, type TrialFinding } from '../result.ts';
import { type RouteTester, toRouteName } from '../route-tester.ts';
import type { SellerAnswer } from '../seller-client.ts';

const RACERS = 10;
const STALE = [
  ['validBefore past', { validAfterSec: -600, validBeforeSec: -60 }],
  ['validAfter ahead', { validAfterSec: 3_600, validBeforeSec: 7_200 }],
] as const;

/** T7: the same header again, after it was settled. */
export async function replay(tester: RouteTester): Promise<TrialFinding> {
  const payment = await tester.pay();
  const { reply: first } = await tester.send(payment);
  const { reply: again } = await tester.send(payment);
  const calls = tester.ledger.describe(payment.nonce);
  const replies = `the same header twice: ${describeReply(first)}, then ${describeReply(again)}`;
  if (!isDelivery(first)) return notRun(`${replies}: nothing to replay`);
  if (!isDelivery(again)) return judgeGift(false, `${replies}, ${calls}`);
  const isAgain = isRedelivery(first, again);
  const what = isAgain ? 'a redelivery of the same answer' : 'delivered anew';
  return judgeGift(!isAgain, `${replies}, ${what}, ${calls}`);
}

/** T8: the same header ten times at once. */
export async function race(tester: RouteTester): Promise<TrialFinding> {
  const payment = await tester.pay();
  tester.facilitator.holdVerify(payment.nonce, RACERS, tester.timing.raceMs);
  const attempts = await Promise.all(Array.from({ length: RACERS }, () => tester.send(payment)));
  const delivered = attempts.map(({ reply }) => reply).filter(isDelivery);
  const distinct: SellerAnswer[] = [];
  for (const one of delivered) {
    if (!distinct.some((other) => isRedelivery(other, one))) distinct.push(one);
  }
  const again = delivered.length - distinct.length;
  const verified = tester.ledger.calls(payment.nonce, 'verify').filter(({ isGood }) => isGood);
  const evidence = [
    `the same header ${RACERS} times at once: ${counted(distinct.length, 'delivery', 'deliveries')}`,
    ...(again > 0 ? [`${counted(again, 'redelivery', 'redeliveries')} of it`] : []),
    tester.ledger.describe(payment.nonce),
    ...(verified.length > 1 ? [`the handler may have run ${verified.length} times`] : []),
  ].join(', ');
  return judgeGift(distinct.length > 1, evidence);
}

/** T9: a payment that was signed for a cheaper route. */
export async function otherResource(
  tester: RouteTester,
  cheaper: RouteTester | null,
): Promise<TrialFinding> {
  if (cheaper === null) return notRun('no other route with a lower price was found');
  const { isDelivered, description } = await tester.send(await cheaper.pay());
  return judgeGift(isDelivered, `a payment for ${toRouteName(cheaper.route)}: ${description}`);
}

/** T10: payments that are no longer valid, and that are not yet valid. */
export async function stale(tester: RouteTester): Promise<TrialFinding> {
  const notes: string[] = [];
  let isGift = false;
  for (const [name, times] of STALE) {
    const attempt = await tester.attempt(times);
    isGift ||= attempt.isDelivered;
    notes.push(`${name}: ${attempt.description}`);
  }
  return judgeGift(isGift, notes.join('; '));
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
