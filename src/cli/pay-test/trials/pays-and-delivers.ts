import type { FacilitatorCall } from '../ledger.ts';
import {
  hasChallengeInside,
  isDelivery,
  readOwnError,
  readReceipt,
  type SellerReceipt,
} from '../replies.ts';
import { notPaid, notRun, type TrialFinding, type TrialStatus } from '../result.ts';
import {
  type NoChallenge,
  type PaymentAttempt,
  type RouteTester,
  toRouteName,
} from '../route-tester.ts';

type FirstPaymentFinding = TrialFinding & {
  /** True if the seller delivered without a call to this facilitator. */
  readonly hasSkippedFacilitator: boolean;
  /** The reason why no other trial that pays can be judged; null if they can. */
  readonly skipReason: string | null;
  /** True if the seller did not answer the payment. */
  readonly isSilent: boolean;
};

const UNGUARDED_FIX =
  'Let the payment guard match this path with its method (explain T1 --stack NAME shows how your stack writes paths), or leave the route out if it is free.';
const CHALLENGE_IN_BODY_FIX =
  'Answer 402 with the challenge in PAYMENT-REQUIRED, and send nothing of the resource before the payment.';
const ANSWERED_FIRST_FIX =
  'Ask for the payment before the handler looks at the request; if the guard does, name a path that exists, and its input by --body.';

/** T1 on a route that cannot be paid: what it answers without a payment. */
export function judgeUnpaidAnswer(
  { answer, message }: NoChallenge,
  tester: RouteTester,
  isNamed: boolean,
): TrialFinding {
  const name = toRouteName(tester.route);
  if (answer === null) return notPaid(message);
  const { status } = answer;
  const reaction = `${name} answers ${status} without a payment`;
  if (isDelivery(answer)) {
    const isAsking = hasChallengeInside(answer);
    const cause = isAsking
      ? 'it asks for the payment in the body, but clients pay only a 402'
      : 'the guard does not match this path';
    const fix = isAsking ? CHALLENGE_IN_BODY_FIX : UNGUARDED_FIX;
    return { status: 'fail', evidence: `${reaction}: ${cause}`, isGift: true, fix };
  }
  const isOwnRefusal = status >= 400 && status < 500 && status !== 402;
  if (!isNamed || !isOwnRefusal) return notPaid(message);
  const evidence = `${reaction}: it answered before it asked for a payment`;
  return { status: 'warn', evidence, fix: ANSWERED_FIRST_FIX };
}

/** T1: a good payment is verified, settled once and answered with the resource. */
export async function tryFirstPayment(tester: RouteTester): Promise<FirstPaymentFinding> {
  let callsBefore = tester.ledger.callCount;
  let attempt = await payFirst(tester);
  if (tester.dropRefusedExample(attempt.reply)) {
    callsBefore = tester.ledger.callCount;
    attempt = await payFirst(tester);
  }
  const { nonce, reply, isDelivered } = attempt;
  const calls = (['verify', 'settle'] as const).flatMap((step) =>
    tester.ledger.listCallsSince(nonce, callsBefore, step),
  );
  const flags = {
    hasSkippedFacilitator: isDelivered && calls.length === 0,
    skipReason: findSkipReason(attempt, calls.length > 0),
    isSilent: !reply.ok && reply.why === 'silent',
  };
  const { refusedExample } = tester;
  const exampleNote =
    refusedExample === null ? '' : `; it refuses its own example, ${refusedExample}`;
  const evidence = `a good payment: ${attempt.description}${exampleNote}`;
  if (!isDelivery(reply)) {
    const refusals = explainRefusal(tester, attempt, calls);
    return { status: 'fail', evidence: [evidence, ...refusals].join('; '), ...flags };
  }
  tester.paidAnswer = reply;
  const settledTransaction = tester.ledger.isSettled(nonce)
    ? tester.ledger.getTransaction(nonce)
    : null;
  const [status, fault] = gradeReceipt(readReceipt(reply), settledTransaction);
  const isExampleRefused = status === 'pass' && refusedExample !== null;
  return { status: isExampleRefused ? 'warn' : status, evidence: `${evidence}${fault}`, ...flags };
}

/** Quotes the facilitator's reasons for a refused payment, and the seller's own error. */
function explainRefusal(
  tester: RouteTester,
  { reply, nonce, version }: PaymentAttempt,
  calls: readonly FacilitatorCall[],
): readonly string[] {
  const reasons = calls.flatMap(({ step, reason, ...call }) => {
    const noncePart = call.nonce === nonce ? '' : " without the payment's nonce";
    return reason === null ? [] : [`${step} was asked${noncePart}, and refused: ${reason}`];
  });
  const ownError = tester.readError(reply, version) || readOwnError(reply);
  const errorPart = ownError === null ? [] : [`the seller says ${JSON.stringify(ownError)}`];
  return [...new Set(reasons), ...errorPart];
}

/** Sends the payment that later trials of the route read as `firstPayment`. */
async function payFirst(tester: RouteTester): Promise<PaymentAttempt> {
  const payment = await tester.signPayment();
  tester.firstPayment = payment;
  return tester.sendPayment(payment);
}

function gradeReceipt(
  receipt: SellerReceipt | null,
  settledTransaction: string | null,
): readonly [TrialStatus, string] {
  if (receipt === null) return ['fail', '; no settlement header that can be decoded'];
  const { success, transaction, network, payer } = receipt;
  if (!success || transaction === '' || network === '')
    return ['fail', '; its settlement header lacks success, transaction or network'];
  if (transaction !== settledTransaction)
    return ['fail', '; this facilitator gave no such transaction'];
  return payer === '' ? ['warn', '; its settlement header names no payer'] : ['pass', ''];
}

function findSkipReason({ reply, isDelivered }: PaymentAttempt, hasCalls: boolean): string | null {
  if (!reply.ok && reply.why === 'silent') return 'the seller does not answer a good payment';
  if (isDelivered || hasCalls) return null;
  return 'the seller neither delivers a good payment nor asks this facilitator';
}

/** T13: a shared cache must not give a paid answer to other callers. */
export function judgeCaching({ paidAnswer }: RouteTester): TrialFinding {
  if (paidAnswer === null) return notRun('the seller gave no paid answer');
  const header = paidAnswer.headers['cache-control'] ?? '';
  const directives = header
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
  const hasDirective = (name: string) =>
    directives.some((directive) => directive === name || directive.startsWith(`${name}=`));
  const maxAge =
    directives.find((directive) => /^max-age="?\d/.test(directive))?.replace(/\D/g, '') ?? '0';
  const isShareable =
    hasDirective('public') ||
    hasDirective('s-maxage') ||
    (Number(maxAge) > 0 && !hasDirective('private'));
  const headerText = header === '' ? 'no Cache-Control' : `Cache-Control: ${header}`;
  return {
    status: isShareable ? 'fail' : 'pass',
    evidence: `the paid ${paidAnswer.status} has ${headerText}`,
  };
}

/** T14: the seller must not settle if the handler failed. */
export async function tryFailedWork(tester: RouteTester): Promise<TrialFinding> {
  const { nonce, reply, description } = await tester.signAndSend();
  const evidence = `a good payment: ${description}`;
  const isSettled = tester.ledger.isSettled(nonce);
  if (reply.ok && reply.status < 500) {
    return notRun(`${evidence}: ${isSettled ? 'the handler works' : 'the handler did not fail'}`);
  }
  return { status: isSettled ? 'fail' : 'pass', evidence };
}
