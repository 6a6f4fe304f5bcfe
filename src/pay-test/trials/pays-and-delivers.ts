import type { Bench } from '../bench.ts';
import { describeReply, isDelivery, readReceipt } from '../replies.ts';
import type { Finding } from '../result.ts';
import type { Reply } from '../seller-client.ts';

export type PaidOnce = Finding & {
  /** It delivered, and this facilitator was asked nothing. */
  readonly isUnasked: boolean;
  /** Why no other trial can tell anything; null where they can. */
  readonly hopeless: string | null;
};

/** T1: a good payment is verified, settled once and answered with what was bought. */
export async function paysAndDelivers(bench: Bench): Promise<PaidOnce> {
  const payment = await bench.pay();
  const reply = await bench.send(payment);
  const asked = bench.ledger.calls(payment.nonce).length > 0;
  const seen = `a good payment: ${describeReply(reply)}, ${bench.ledger.describe(payment.nonce)}`;
  const flags = { isUnasked: isDelivery(reply) && !asked, hopeless: hopelessBy(reply, asked) };
  if (!isDelivery(reply)) return { status: 'fail', evidence: seen, ...flags };
  bench.paid = reply;
  const receipt = readReceipt(reply);
  if (receipt === null) {
    return {
      status: 'fail',
      evidence: `${seen}, no settlement header that can be decoded`,
      ...flags,
    };
  }
  const { success, transaction, network, payer } = receipt;
  if (!success || transaction === '' || network === '') {
    const evidence = `${seen}; its settlement header lacks success, transaction or network`;
    return { status: 'fail', evidence, ...flags };
  }
  if (transaction !== bench.ledger.settled(payment.nonce)?.transaction) {
    return {
      status: 'fail',
      evidence: `${seen}; this facilitator gave no such transaction`,
      ...flags,
    };
  }
  if (payer === '') {
    return { status: 'warn', evidence: `${seen}; its settlement header names no payer`, ...flags };
  }
  return { status: 'pass', evidence: seen, ...flags };
}

function hopelessBy(reply: Reply, asked: boolean): string | null {
  if (!reply.ok && reply.why === 'silent') return 'the seller does not answer a good payment';
  if (isDelivery(reply) || asked) return null;
  return 'the seller neither delivers a good payment nor asks this facilitator';
}
