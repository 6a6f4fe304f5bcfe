import { isDelivery, readReceipt, type SellerReceipt } from '../replies.ts';
import type { TrialFinding, TrialStatus } from '../result.ts';
import type { PaymentAttempt, RouteTester } from '../route-tester.ts';

export type FirstPaymentFlags = {
  /** True if the seller delivered without a call to this facilitator. */
  readonly hasSkippedFacilitator: boolean;
  /** The reason why no other trial can be judged, or null. */
  readonly onlyT1Reason: string | null;
};

type FirstPaymentFinding = TrialFinding & FirstPaymentFlags;

/** T1: a good payment is verified, settled once and answered with the resource. */
export async function tryFirstPayment(tester: RouteTester): Promise<FirstPaymentFinding> {
  let attempt = await payFirst(tester);
  if (tester.dropRefusedExample(attempt.reply)) attempt = await payFirst(tester);
  const { nonce, reply, isDelivered } = attempt;
  const hasCalls = tester.ledger.listCalls(nonce).length > 0;
  const flags = {
    hasSkippedFacilitator: isDelivered && !hasCalls,
    onlyT1Reason: findOnlyT1Reason(attempt, hasCalls),
  };
  const { refusedExample } = tester;
  const exampleNote =
    refusedExample === null ? '' : `; it refuses its own example, ${refusedExample}`;
  const evidence = `a good payment: ${attempt.description}${exampleNote}`;
  if (!isDelivery(reply)) return { status: 'fail', evidence, ...flags };
  tester.paidAnswer = reply;
  const settledTransaction = tester.ledger.findSettlement(nonce)?.transaction;
  const [status, fault] = gradeReceipt(readReceipt(reply), settledTransaction);
  const isExampleRefused = status === 'pass' && refusedExample !== null;
  return { status: isExampleRefused ? 'warn' : status, evidence: `${evidence}${fault}`, ...flags };
}

async function payFirst(tester: RouteTester): Promise<PaymentAttempt> {
  const payment = await tester.signPayment();
  tester.firstPayment = payment;
  return tester.sendPayment(payment);
}

function gradeReceipt(
  receipt: SellerReceipt | null,
  settledTransaction: string | undefined,
): readonly [TrialStatus, string] {
  if (receipt === null) return ['fail', '; no settlement header that can be decoded'];
  const { success, transaction, network, payer } = receipt;
  if (!success || transaction === '' || network === '')
    return ['fail', '; its settlement header lacks success, transaction or network'];
  if (transaction !== settledTransaction)
    return ['fail', '; this facilitator gave no such transaction'];
  return payer === '' ? ['warn', '; its settlement header names no payer'] : ['pass', ''];
}

function findOnlyT1Reason(
  { reply, isDelivered }: PaymentAttempt,
  hasCalls: boolean,
): string | null {
  if (!reply.ok && reply.why === 'silent') return 'the seller does not answer a good payment';
  if (isDelivered || hasCalls) return null;
  return 'the seller neither delivers a good payment nor asks this facilitator';
}
