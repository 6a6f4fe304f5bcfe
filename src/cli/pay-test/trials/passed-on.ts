/** Trials of what the seller passes on: to the facilitator (T15), and from it to the buyer (T16 to T18). */
import { isDeepStrictEqual } from 'node:util';
import { readMembers } from '../../../scanner/model/json.ts';
import { REFUSAL_REASON, type TestFacilitator } from '../facilitator.ts';
import type { FacilitatorCall } from '../ledger.ts';
import type { Payment } from '../payer.ts';
import { isDelivery, isPaidBody, readReceipt } from '../replies.ts';
import { failIfFree, mergeFindings, notRun, type TrialFinding } from '../result.ts';
import { type PaymentAttempt, type RouteTester, toTimeoutMs } from '../route-tester.ts';
import type { SellerReply } from '../seller-client.ts';
import { CHECKS_ITSELF } from './obeys-facilitator.ts';

const NOT_IN_VERSION_1 = 'the seller speaks version 1, and this trial needs version 2';
/** For each payment: its name in the evidence, and the step at which the facilitator refuses it. */
const REFUSALS = [
  ['a good payment', null],
  ['verify refuses', 'verify'],
  ['settle refuses', 'settle'],
] as const;

/** T15: the facilitator must get the challenge's resource and bazaar extension, because indexes list what it gets. */
export function judgeListing({ firstPayment, ledger }: RouteTester): TrialFinding {
  if (firstPayment === null) return notRun('the seller got no good payment');
  if (firstPayment.version === 1) return notRun(NOT_IN_VERSION_1);
  if ((firstPayment.challenge['resource'] ?? null) === null)
    return notRun('the challenge has no resource');
  const calls = ledger.listCalls(firstPayment.nonce);
  if (calls.length === 0) return notRun('the seller did not call the facilitator');
  const faults = [...new Set(calls.flatMap((call) => findFaults(firstPayment, call)))];
  if (faults.length > 0) return { status: 'warn', evidence: faults.join('; ') };
  const steps = [...new Set(calls.map(({ step }) => step))].join(' and ');
  return { status: 'pass', evidence: `${steps} got the resource and the extensions` };
}

function findFaults({ challenge }: Payment, { step, payload }: FacilitatorCall): readonly string[] {
  const faults: string[] = [];
  const { resource = null } = payload;
  if (resource === null) faults.push(`${step} got no paymentPayload.resource`);
  else if (!isDeepStrictEqual(resource, challenge['resource'])) {
    faults.push(`${step} got another paymentPayload.resource than the challenge has`);
  }
  const { bazaar: declared } = readMembers(challenge['extensions']);
  const { bazaar } = readMembers(payload['extensions']);
  if (declared === undefined) return faults;
  if (bazaar === undefined) faults.push(`${step} got no paymentPayload.extensions.bazaar`);
  else if (!isDeepStrictEqual(readMembers(bazaar)['info'], readMembers(declared)['info'])) {
    faults.push(`${step} got another info in paymentPayload.extensions.bazaar`);
  }
  return faults;
}

/** T16: the buyer must get the reason why verify refused the payment. */
export async function tryRefusalReason(tester: RouteTester): Promise<TrialFinding> {
  const attempt = await tester.sendDuringFault('verify', 'refuse');
  const { nonce, version, reply, isDelivered, description } = attempt;
  if (!tester.ledger.hasCall(nonce, 'verify')) return notRun(`${description}: ${CHECKS_ITSELF}`);
  const reaction = `verify said ${REFUSAL_REASON}: ${description}`;
  if (isDelivered) return notRun(`${reaction}: it delivers, see T3`);
  const error = tester.readError(reply, version);
  if (error === null) return { status: 'warn', evidence: `${reaction}: no 402 with a challenge` };
  const hasReason = error.includes(REFUSAL_REASON);
  const errorText = hasReason ? 'names the reason' : `is ${JSON.stringify(error.slice(0, 100))}`;
  return {
    status: hasReason ? 'pass' : 'warn',
    evidence: `${reaction}, and the challenge's error ${errorText}`,
  };
}

/** T18: EXTENSION-RESPONSES is for the seller, who must not pass it on to the buyer. */
export async function tryExtensionResponses(tester: RouteTester): Promise<TrialFinding> {
  const { version } = await tester.fetchChallenge();
  if (version === 1) return notRun(NOT_IN_VERSION_1);
  const { facilitator } = tester;
  const findings: TrialFinding[] = [];
  for (const [name, refusedStep] of REFUSALS) {
    const payment = await tester.signPayment();
    facilitator.addExtensionResponses(payment.nonce);
    if (refusedStep !== null) facilitator.misbehave(refusedStep, payment.nonce, 'refuse');
    const { reply, description } = await tester.sendPayment(payment);
    const evidence = `${name}: ${description}`;
    findings.push(
      isPassedOn(reply, facilitator)
        ? { status: 'warn', evidence: `${evidence}, with EXTENSION-RESPONSES` }
        : { status: 'pass', evidence },
    );
  }
  return mergeFindings(findings);
}

/** True if the answer has the header, or has its content in another header or in the body. */
function isPassedOn(reply: SellerReply, { mark, extensionResponses }: TestFacilitator): boolean {
  if (!reply.ok) return false;
  const texts = [...Object.values(reply.headers), reply.body.toString('utf8')];
  const decoded = texts.map((text) => Buffer.from(text, 'base64').toString('utf8'));
  const hasMark = (text: string) => text.includes(mark) || text.includes(extensionResponses);
  return reply.headers['extension-responses'] !== undefined || [...texts, ...decoded].some(hasMark);
}

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
    const attempt = await tester.sendDuringFault('settle', fault, timeoutMs);
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
