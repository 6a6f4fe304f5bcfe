import type { Bench } from '../bench.ts';
import type { Fault } from '../facilitator.ts';
import type { Step } from '../ledger.ts';
import type { Payment } from '../payer.ts';
import { describeReply, isDelivery, readReceipt } from '../replies.ts';
import type { Finding, TrialStatus } from '../result.ts';
import type { Reply } from '../seller-client.ts';

const VERIFY_FAULTS = ['error', 'hang-up', 'garbage', 'silence'] as const;
const SETTLE_FAULTS = ['error', 'hang-up', 'silence'] as const;
const NAMES: Readonly<Record<Fault, string>> = {
  refuse: 'refusal',
  error: '500',
  'hang-up': 'hang-up',
  garbage: 'garbage',
  silence: 'silence',
};
/** An answer that is late is waited for this much longer than it may take. */
const LATE_SHARE = 1.1;

type Outage = { readonly payment: Payment; readonly reply: Reply };
type Judged = Required<Pick<Finding, 'status' | 'evidence'>> & { readonly isGift: boolean };

/** T4: verify fails in four ways, all at once, told apart by nonce. */
export async function failsClosed(bench: Bench): Promise<Finding> {
  const judged = await Promise.all(
    VERIFY_FAULTS.map((fault) => tryOutage(bench, 'verify', fault, judgeVerifyOutage)),
  );
  return worstOf(judged);
}

/** T6: settle fails in three ways, after the ledger took the payment. */
export async function settleInDoubt(bench: Bench): Promise<Finding> {
  const judged = await Promise.all(
    SETTLE_FAULTS.map((fault) => tryOutage(bench, 'settle', fault, judgeSettleOutage)),
  );
  return worstOf(judged);
}

type Judge = (bench: Bench, outage: Outage) => Judged;

/** A hang is tried once more alone: beside others it may be the machine's. */
async function tryOutage(bench: Bench, step: Step, fault: Fault, judge: Judge): Promise<Judged> {
  let outage = await sendThrough(bench, step, fault);
  if (!outage.reply.ok && outage.reply.why === 'silent') {
    outage = await sendThrough(bench, step, fault);
  }
  const { status, evidence, isGift } = judge(bench, outage);
  return { status, evidence: `${step} ${NAMES[fault]}: ${evidence}`, isGift };
}

async function sendThrough(bench: Bench, step: Step, fault: Fault): Promise<Outage> {
  const payment = await bench.pay();
  bench.facilitator.misbehave(step, payment.nonce, fault);
  const reply = await bench.send(payment, Math.round(bench.timing.patienceMs * LATE_SHARE));
  return { payment, reply };
}

function judgeVerifyOutage(bench: Bench, { payment, reply }: Outage): Judged {
  const asked = bench.ledger.describe(payment.nonce);
  if (isDelivery(reply)) {
    return { status: 'fail', evidence: `${describeReply(reply)}, ${asked}`, isGift: true };
  }
  const isLate = reply.ms > bench.timing.patienceMs;
  const evidence = `${describeReply(reply)}${isLate ? ', late' : ''}, ${asked}`;
  return { status: isLate ? 'warn' : 'pass', evidence, isGift: false };
}

function judgeSettleOutage(bench: Bench, { payment, reply }: Outage): Judged {
  const { nonce } = payment;
  const asked = bench.ledger.describe(nonce);
  const first = bench.ledger.calls(nonce, 'settle')[0];
  const isOther = bench.ledger
    .calls(nonce, 'settle')
    .some(({ requirements }) => amountIn(requirements) !== amountIn(first?.requirements));
  const seen = `${describeReply(reply)}, ${asked}`;
  if (isOther) {
    return {
      status: 'fail',
      evidence: `${seen}, with another amount the second time`,
      isGift: false,
    };
  }
  if (isDelivery(reply)) {
    const isClaimed = readReceipt(reply)?.success === true;
    return isClaimed
      ? {
          status: 'fail',
          evidence: `${seen}, and a settlement header that nobody gave it`,
          isGift: true,
        }
      : { status: 'warn', evidence: `${seen}: served unproved`, isGift: false };
  }
  const isGone = reply.ms > bench.timing.patienceMs;
  return { status: isGone ? 'fail' : 'pass', evidence: seen, isGift: false };
}

function amountIn(requirements: Readonly<Record<string, unknown>> = {}): unknown {
  return requirements['amount'] ?? requirements['maxAmountRequired'];
}

const WORST_FIRST: readonly TrialStatus[] = ['fail', 'warn', 'not_run', 'pass'];

function worstOf(all: readonly Judged[]): Finding {
  const status = WORST_FIRST.find((one) => all.some((judged) => judged.status === one)) ?? 'pass';
  return {
    status,
    evidence: all.map(({ evidence }) => evidence).join('; '),
    isGift: all.some(({ isGift }) => isGift),
  };
}
