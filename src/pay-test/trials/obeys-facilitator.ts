import type { Bench } from '../bench.ts';
import { describeReply, isDelivery, isPaidBody } from '../replies.ts';
import type { Finding } from '../result.ts';

/** T3: the facilitator answers `isValid: false`. */
export async function obeysVerify(bench: Bench): Promise<Finding> {
  const payment = await bench.pay();
  bench.facilitator.misbehave('verify', payment.nonce, 'refuse');
  const reply = await bench.send(payment);
  const isGift = isDelivery(reply);
  const isSettled = bench.ledger.calls(payment.nonce, 'settle').length > 0;
  const evidence = `verify said isValid: false: ${describeReply(reply)}, ${bench.ledger.describe(payment.nonce)}`;
  return { status: isGift || isSettled ? 'fail' : 'pass', evidence, isGift };
}

/** T5: the facilitator answers settle with `success: false`. */
export async function obeysSettle(bench: Bench): Promise<Finding> {
  const payment = await bench.pay();
  bench.facilitator.misbehave('settle', payment.nonce, 'refuse');
  const reply = await bench.send(payment);
  const isSent = reply.ok && bench.paid !== null && isPaidBody(bench.paid, reply.body);
  const isGift = isDelivery(reply) || isSent;
  const body = isSent ? ' with what is sold' : '';
  const evidence = `settle said success: false: ${describeReply(reply)}${body}, ${bench.ledger.describe(payment.nonce)}`;
  return { status: isGift ? 'fail' : 'pass', evidence, isGift };
}
