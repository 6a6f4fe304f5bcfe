import { type Bench, toRouteName } from '../bench.ts';
import { describeReply, isDelivery, isRedelivery } from '../replies.ts';
import type { Finding } from '../result.ts';
import type { Answer } from '../seller-client.ts';

const RACERS = 10;
const PAST = { validAfterSec: -600, validBeforeSec: -60 };
const AHEAD = { validAfterSec: 3_600, validBeforeSec: 7_200 };

/** T7: the same header once more, after it was settled. */
export async function replay(bench: Bench): Promise<Finding> {
  const payment = await bench.pay();
  const first = await bench.send(payment);
  const again = await bench.send(payment);
  const asked = bench.ledger.describe(payment.nonce);
  const seen = `the same header twice: ${describeReply(first)}, then ${describeReply(again)}`;
  if (!isDelivery(first)) return { status: 'not_run', evidence: `${seen}: nothing to replay` };
  if (!isDelivery(again)) return { status: 'pass', evidence: `${seen}, ${asked}` };
  if (isRedelivery(first, again)) {
    return { status: 'pass', evidence: `${seen}, a redelivery of the same answer, ${asked}` };
  }
  return { status: 'fail', evidence: `${seen}, delivered anew, ${asked}`, isGift: true };
}

/** T8: the same header ten times at once. */
export async function race(bench: Bench): Promise<Finding> {
  const payment = await bench.pay();
  bench.facilitator.holdVerify(payment.nonce, RACERS, bench.timing.raceMs);
  const replies = await Promise.all(Array.from({ length: RACERS }, () => bench.send(payment)));
  const delivered = replies.filter(isDelivery);
  const distinct: Answer[] = [];
  for (const one of delivered) {
    if (!distinct.some((other) => isRedelivery(other, one))) distinct.push(one);
  }
  const again = delivered.length - distinct.length;
  const verified = bench.ledger.calls(payment.nonce, 'verify').filter(({ isGood }) => isGood);
  const evidence = [
    `the same header ${RACERS} times at once: ${counted(distinct.length, 'delivery', 'deliveries')}`,
    ...(again > 0 ? [`${counted(again, 'redelivery', 'redeliveries')} of it`] : []),
    bench.ledger.describe(payment.nonce),
    ...(verified.length > 1 ? [`the handler may have run ${verified.length} times`] : []),
  ].join(', ');
  const isGift = distinct.length > 1;
  return { status: isGift ? 'fail' : 'pass', evidence, isGift };
}

/** T9: what was signed for a cheaper route, on this one. */
export async function otherResource(bench: Bench, cheaper: Bench | null): Promise<Finding> {
  if (cheaper === null) {
    return { status: 'not_run', evidence: 'no other route with a lower price was found' };
  }
  const payment = await cheaper.pay();
  const reply = await bench.send(payment);
  const evidence = `a payment for ${toRouteName(cheaper.route)}: ${describeReply(reply)}, ${bench.ledger.describe(payment.nonce)}`;
  const isGift = isDelivery(reply);
  return { status: isGift ? 'fail' : 'pass', evidence, isGift };
}

/** T10: payments that are over, and that are not yet valid. */
export async function stale(bench: Bench): Promise<Finding> {
  const seen: string[] = [];
  let isGift = false;
  for (const [name, times] of [
    ['validBefore past', PAST],
    ['validAfter ahead', AHEAD],
  ] as const) {
    const payment = await bench.pay(times);
    const reply = await bench.send(payment);
    isGift ||= isDelivery(reply);
    seen.push(`${name}: ${describeReply(reply)}, ${bench.ledger.describe(payment.nonce)}`);
  }
  return { status: isGift ? 'fail' : 'pass', evidence: seen.join('; '), isGift };
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
