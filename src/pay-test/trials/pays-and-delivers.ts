import { isDelivery, readReceipt, type SellerReceipt } from '../replies.ts';
import type { TrialFinding, TrialStatus } from '../result.ts';
import type { PaymentAttempt, RouteTester } from '../route-tester.ts';

export type FirstPayment = TrialFinding & {
  /** True if the seller delivered without a call to this facilitator. */
  readonly isUnasked: boolean;
  /** The reason that no other trial can be judged; null if they can. */
  readonly hopeless: string | null;
};

/** T1: a good payment is verified, settled once and answered with the resource. */
export async function paysAndDelivers(tester: RouteTester): Promise<FirstPayment> {
  let attempt = await payFirst(tester);
  if (tester.refusesExample(attempt.reply)) attempt = await payFirst(tester);
  const { nonce, reply, isDelivered } = attempt;
  const isAsked = tester.ledger.calls(nonce).length > 0;
  const flags = { isUnasked: isDelivered && !isAsked, hopeless: findHopeless(attempt, isAsked) };
  const { refusedExample } = tester;
  const refused = refusedExample === null ? '' : `; it refuses its own example, ${refusedExample}`;
  const evidence = `a good payment: ${attempt.description}${refused}`;
  if (!isDelivery(reply)) return { status: 'fail', evidence: evidence, ...flags };
  tester.paid = reply;
  const given = tester.ledger.settled(nonce)?.transaction;
  const [status, fault] = gradeReceipt(readReceipt(reply), given);
  const isRefused = status === 'pass' && refusedExample !== null;
  return { status: isRefused ? 'warn' : status, evidence: `${evidence}${fault}`, ...flags };
}

async function payFirst(tester: RouteTester): Promise<PaymentAttempt> {
  const payment = await tester.pay();
  tester.first = payment;
  return tester.send(payment);
}

function gradeReceipt(
  receipt: SellerReceipt | null,
  given: string | undefined,
): readonly [TrialStatus, string] {
  if (receipt === null) return ['fail', '; no settlement header that can be decoded'];
  const { success, transaction, network, payer } = receipt;
  if (!success || transaction === '' || network === '') {
    return ['fail', '; its settlement header lacks success, transaction or network'];
  }
  if (transaction !== given) return ['fail', '; this facilitator gave no such transaction'];
  return payer === '' ? ['warn', '; its settlement header names no payer'] : ['pass', ''];
}

function findHopeless({ reply, isDelivered }: PaymentAttempt, isAsked: boolean): string | null {
  if (!reply.ok && reply.why === 'silent') return 'the seller does not answer a good payment';
  if (isDelivered || isAsked) return null;
  return 'the seller neither delivers a good payment nor asks this facilitator';
}
