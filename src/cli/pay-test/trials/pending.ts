import { isDeepStrictEqual } from 'node:util';
import type { FacilitatorCall } from '../ledger.ts';
import { isPaidBody } from '../paid-body.ts';
import { isDelivery, readReceipt } from '../replies.ts';
import { failIfFree, mergeFindings, notRun, type TrialFinding } from '../result.ts';
import { type PaymentAttempt, type RouteTester, toTimeoutMs } from '../route-tester.ts';
import { NOT_IN_VERSION_1 } from './passed-on.ts';

const PENDING_FAULTS = [
  ['pending-once', 'settle said pending once'],
  ['pending', 'settle stays pending'],
] as const;

/** T17: settle answers `settlement_pending` with a transaction, which is neither success nor refusal. */
export async function tryPendingSettle(tester: RouteTester): Promise<TrialFinding> {
  const { version } = await tester.fetchChallenge();
  if (version === 1) return notRun(NOT_IN_VERSION_1);
  const findings: TrialFinding[] = [];
  for (const [fault, name] of PENDING_FAULTS) {
    const timeoutMs = toTimeoutMs(tester.timing);
    const callsBefore = tester.ledger.callCount;
    const attempt = await tester.signAndSend({}, { step: 'settle', fault, timeoutMs });
    const finding = judgePending(tester, attempt, callsBefore);
    const evidence = `${name}: ${finding.evidence}`;
    const isLate = attempt.reply.ms > tester.timing.patienceMs && finding.status !== 'fail';
    const lateFinding = { status: 'warn', evidence: `${evidence}, late` } as const;
    findings.push(isLate ? lateFinding : { ...finding, evidence });
  }
  return mergeFindings(findings);
}

function judgePending(
  tester: RouteTester,
  { nonce, reply, description }: PaymentAttempt,
  callsBefore: number,
): TrialFinding {
  const [firstCall, ...laterCalls] = tester.ledger.listCallsSince(nonce, callsBefore, 'settle');
  if (firstCall === undefined) return notRun(`${description}: nothing was settled`);
  const pickTerms = ({ payload, requirements }: FacilitatorCall) => ({ payload, requirements });
  const firstTerms = pickTerms(firstCall);
  if (laterCalls.some((call) => !isDeepStrictEqual(pickTerms(call), firstTerms))) {
    const isOtherNonce = laterCalls.some((call) => call.nonce !== firstCall.nonce);
    const difference = isOtherNonce ? 'under another nonce' : 'with another payload or other terms';
    const isGift = isDelivery(reply) && !tester.ledger.isSettled(nonce);
    return { status: 'fail', evidence: `${description}, settled again ${difference}`, isGift };
  }
  const receipt = reply.ok ? readReceipt(reply) : null;
  if (isDelivery(reply)) {
    if (tester.ledger.isSettled(nonce)) return { status: 'pass', evidence: description };
    if (receipt?.success === true)
      return failIfFree(true, `${description}, and a settlement header that says success`);
    if (tester.paidAnswer === null || isPaidBody(tester.paidAnswer, reply.body))
      return {
        status: 'warn',
        evidence: `${description}: delivered without a proof of settlement`,
      };
  }
  const transaction = tester.ledger.getTransaction(nonce);
  const hasReason =
    receipt !== null && receipt.reason !== '' && receipt.transaction === transaction;
  if (hasReason) return { status: 'pass', evidence: `${description}, with reason and transaction` };
  const problem = 'without reason and transaction in a settlement header: the buyer pays twice';
  return { status: 'warn', evidence: `${description}, ${problem}` };
}
