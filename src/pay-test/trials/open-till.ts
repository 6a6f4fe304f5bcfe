import { describeReply, isDelivery } from '../replies.ts';
import { judgeGift, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';
import { toNoPayment } from './bad-headers.ts';
import { UNOWNED_ADDRESS } from './own-terms.ts';

const FIX =
  'Deliver only after verify and settle of your facilitator accepted the payment, and turn off any mode that takes every header.';

/** Findings of a seller that takes anything; none if it refuses both, because it asks another facilitator. */
export type TillFindings = readonly { readonly id: 'T2' | 'T12'; readonly finding: TrialFinding }[];

/**
 * Tries a seller that delivers without asking the facilitator: a header that is not a payment, and a good payment to
 * another recipient.
 */
export async function tryOpenTill(tester: RouteTester): Promise<TillFindings> {
  const payment = await tester.signPayment({ payTo: UNOWNED_ADDRESS });
  const reply = await tester.request({ headers: toNoPayment(payment.version) });
  const { isDelivered, description } = await tester.sendPayment(payment);
  const judge = (evidence: string) => ({ ...judgeGift(true, evidence), fix: FIX });
  return [
    ...(isDelivered
      ? [{ id: 'T2', finding: judge(`a payment to another recipient: ${description}`) } as const]
      : []),
    ...(isDelivery(reply)
      ? [
          {
            id: 'T12',
            finding: judge(`a header that is not a payment: ${describeReply(reply)}`),
          } as const,
        ]
      : []),
  ];
}
