import type { FacilitatorFault } from '../facilitator.ts';
import type { Members } from '../judge-payment.ts';
import type { Step } from '../ledger.ts';
import { hasPaidPart, isDelivery, isPaidBody, readReceipt } from '../replies.ts';
import { failIfFree, mergeFindings, notRun, type TrialFinding } from '../result.ts';
import { type PaymentAttempt, type RouteTester, toTimeoutMs } from '../route-tester.ts';

/** Reason why a trial that needs a call to verify did not run. */
export const CHECKS_ITSELF = 'checks payments itself: T5 shows whether settle is obeyed';

/** T3: the seller must not deliver or settle if the facilitator answers verify with `isValid: false`. */
export async function tryRefusedVerify(tester: RouteTester): Promise<TrialFinding> {
  const { ledger } = tester;
  const attempt = await tester.sendDuringFault('verify', 'refuse');
  const { nonce, isDelivered, description } = attempt;
  // A seller that asked nothing, settled nothing and delivers gives the resource away, which fails below.
  if (!ledger.hasCall(nonce, 'verify') && (ledger.isSettled(nonce) || !isDelivered))
    return notRun(`${description}: ${CHECKS_ITSELF}`);
  return {
    status: isDelivered || ledger.hasCall(nonce, 'settle') ? 'fail' : 'pass',
    evidence: `verify said isValid: false: ${description}`,
    isGift: isDelivered,
  };
}

/** T5: the seller must not deliver if the facilitator answers settle with `success: false`. */
export async function tryRefusedSettle(tester: RouteTester): Promise<TrialFinding> {
  const { paidAnswer } = tester;
  const attempt = await tester.sendDuringFault('settle', 'refuse');
  const { version, reply, isDelivered, description } = attempt;
  const evidence = `settle said success: false: ${description}`;
  if (!reply.ok || paidAnswer === null) return failIfFree(isDelivered, evidence);
  if (isPaidBody(paidAnswer, reply.body))
    return failIfFree(true, `${evidence}, with the body of the resource`);
  const isPreview = !isDelivered && hasPaidPart(paidAnswer, reply.body, version);
  const suffix = isPreview ? ', with the resource inside the body of the refusal' : '';
  return failIfFree(isDelivered || isPreview, `${evidence}${suffix}`);
}

const VERIFY_FAULTS = ['error', 'hang-up', 'garbage', 'silence'] as const;
const SETTLE_FAULTS = ['error', 'hang-up', 'silence'] as const;

/** T4: verify fails in four ways at once, each for one payment. */
export async function tryVerifyOutages(tester: RouteTester): Promise<TrialFinding> {
  const findings = await Promise.all(
    VERIFY_FAULTS.map((fault) => tryOutage(tester, 'verify', fault)),
  );
  const verifyCallers = findings.filter(({ wasAsked }) => wasAsked);
  const gifts = findings.filter(({ isGift }) => isGift === true);
  return verifyCallers.length + gifts.length === 0
    ? notRun(CHECKS_ITSELF)
    : mergeFindings(findings);
}

/** T6: settle fails in three ways at once, each after the facilitator has settled the payment. */
export async function trySettleOutages(tester: RouteTester): Promise<TrialFinding> {
  return mergeFindings(
    await Promise.all(SETTLE_FAULTS.map((fault) => tryOutage(tester, 'settle', fault))),
  );
}

async function tryOutage(
  tester: RouteTester,
  step: Step,
  fault: FacilitatorFault,
): Promise<TrialFinding & { readonly wasAsked: boolean }> {
  const timeoutMs = toTimeoutMs(tester.timing);
  const send = () => tester.sendDuringFault(step, fault, timeoutMs);
  const first = await send();
  // The machine may be too slow for all faults at once, so a second payment is sent after a timeout.
  const isSilent = !first.reply.ok && first.reply.why === 'silent';
  const attempt = isSilent ? await send() : first;
  const judge = step === 'verify' ? judgeVerifyOutage : judgeSettleOutage;
  const finding = judge(tester, attempt);
  const name = fault === 'error' ? '500' : fault;
  const evidence = `${step} ${name}: ${finding.evidence}`;
  return { ...finding, evidence, wasAsked: tester.ledger.hasCall(attempt.nonce, step) };
}

function judgeVerifyOutage(
  tester: RouteTester,
  { nonce, reply, isDelivered, description }: PaymentAttempt,
): TrialFinding {
  // Verify was not asked, so its fault did not reach the seller, who was paid.
  if (!tester.ledger.hasCall(nonce, 'verify') && tester.ledger.isSettled(nonce))
    return notRun(`${description}: ${CHECKS_ITSELF}`);
  if (isDelivered) return failIfFree(true, description);
  const isLate = reply.ms > tester.timing.patienceMs;
  return isLate
    ? { status: 'warn', evidence: `${description}, late` }
    : { status: 'pass', evidence: description };
}

function judgeSettleOutage(
  tester: RouteTester,
  { nonce, reply, description }: PaymentAttempt,
): TrialFinding {
  const calls = tester.ledger.listCalls(nonce, 'settle');
  const amounts = new Set(calls.map(({ requirements }) => readAmount(requirements)));
  if (amounts.size > 1)
    return { status: 'fail', evidence: `${description}, with another amount the second time` };
  if (isDelivery(reply)) {
    const hasReceipt = readReceipt(reply)?.success === true;
    return hasReceipt
      ? failIfFree(true, `${description}, and a made-up settlement header`)
      : { status: 'warn', evidence: `${description}: delivered without a proof of settlement` };
  }
  const isLate = reply.ms > tester.timing.patienceMs;
  return { status: isLate ? 'fail' : 'pass', evidence: description };
}

function readAmount(requirements: Members): unknown {
  return requirements['amount'] ?? requirements['maxAmountRequired'];
}
