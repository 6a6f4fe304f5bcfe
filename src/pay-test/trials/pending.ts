import { isDeepStrictEqual } from 'node:util';
import { isPaidBody } from '../paid-body.ts';
import { isDelivery, readReceipt } from '../replies.ts';
import { notRun, type TrialFinding, worstOf } from '../result.ts';
import type { PaymentAttempt, RouteTester } from '../route-tester.ts';
import { lateMs } from '../timing.ts';
import { ONLY_VERSION_2 } from './passed-on.ts';

const FORMS = [
  ['pending-once', 'settle said pending once'],
  ['pending', 'settle stays pending'],
] as const;

/** T17: settle answers `settlement_pending` with a transaction, which is neither success nor refusal. */
export async function pending(tester: RouteTester): Promise<TrialFinding> {
  const { version } = await tester.challenge();
  if (version === 1) return notRun(ONLY_VERSION_2);
  const findings: TrialFinding[] = [];
  for (const [fault, name] of FORMS) {
    const timeoutMs = lateMs(tester.timing);
    const attempt = await tester.attempt({}, { step: 'settle', fault, timeoutMs });
    const finding = judgePending(tester, attempt);
    const evidence = `${name}: ${finding.evidence}`;
    const isLate = attempt.reply.ms > tester.timing.patienceMs && finding.status !== 'fail';
    const late = { status: 'warn', evidence: `${evidence}, late` } as const;
    findings.push(isLate ? late : { ...finding, evidence });
  }
  return worstOf(findings);
}

function judgePending(
  tester: RouteTester,
  { nonce, reply, description }: PaymentAttempt,
): TrialFinding {
  const [first, ...more] = tester.ledger.calls(nonce, 'settle');
  if (first === undefined) return notRun(`${description}: nothing was settled`);
  const isOther = more.some(
    (call) =>
      !isDeepStrictEqual([call.payload, call.requirements], [first.payload, first.requirements]),
  );
  if (isOther) {
    return {
      status: 'fail',
      evidence: `${description}, again with another payload or other terms`,
    };
  }
  const receipt = reply.ok ? readReceipt(reply) : null;
  if (isDelivery(reply)) {
    if (tester.ledger.settled(nonce) !== null) return { status: 'pass', evidence: description };
    if (receipt?.success === true) {
      const evidence = `${description}, and a settlement header that says success`;
      return { status: 'fail', evidence, isGift: true };
    }
    if (tester.paid === null || isPaidBody(tester.paid, reply.body)) {
      return {
        status: 'warn',
        evidence: `${description}: delivered without a proof of settlement`,
      };
    }
  }
  const transaction = tester.ledger.transactionOf(nonce);
  const isTold = receipt !== null && receipt.reason !== '' && receipt.transaction === transaction;
  if (isTold) return { status: 'pass', evidence: `${description}, with reason and transaction` };
  const lack = 'without reason and transaction in a settlement header: the buyer pays twice';
  return { status: 'warn', evidence: `${description}, ${lack}` };
}
