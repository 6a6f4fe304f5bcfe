/** The promises to payers, checked after every crash. */
import assert from 'node:assert/strict';
import type { Call, Payment } from './call.ts';
import type { Rig } from './rig.ts';
import type { Transfer } from './settlement-record.ts';

const SETTLES_IN_MS = 60_000;

/** Asks with the same header until the answer is final: whatever was in doubt has been cleared up. */
export async function redeliver(rig: Rig, payment: Payment): Promise<Call> {
  const endMs = Date.now() + SETTLES_IN_MS;
  for (;;) {
    const call = await rig.scan(payment);
    if (call.status !== 0 && call.error !== 'settlement_unknown') return call;
    assert(Date.now() < endMs, `the payment ${payment.signed.nonce} stays in doubt`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * The promises about money, of these calls (default: all). The service must be up. Throws an
 * AssertionError that says which promise was broken, for which payment.
 */
export async function checkPromises(rig: Rig, calls: readonly Call[] = rig.calls): Promise<void> {
  const byNonce = Map.groupBy(calls, ({ payment }) => payment.signed.nonce);
  for (const [nonce, ofPayment] of byNonce) {
    for (const call of ofPayment) checkAnswer(rig, call);
    const transfer = transferOf(rig, nonce);
    // 2: every other status settles nothing, then or later; a broken connection is not a status.
    const isRefused = ofPayment.every(
      ({ status, error }) => status !== 0 && status !== 200 && error !== 'settlement_unknown',
    );
    if (isRefused) assert.equal(transfer, undefined, `${nonce} was refused, and settled`);
    if (transfer !== undefined) await checkRetrievable(rig, ofPayment, transfer);
  }
}

/** 5: total settled is the number of distinct answers; the others have shown each to be retrievable. */
export function checkNothingElseSettled(rig: Rig): void {
  const sent = new Set<string>(rig.calls.map(({ payment }) => payment.signed.nonce));
  const strange = rig.record.transfers.filter(({ nonce }) => !sent.has(nonce));
  assert.deepEqual(strange, [], 'something was settled that nobody sent');
}

/** 2: a 200 was settled exactly once, by the authorization that it names. */
function checkAnswer(rig: Rig, { status, payment, transaction, isRedelivered }: Call): void {
  if (status !== 200) return;
  const { nonce } = payment.signed;
  const payer = payment.payer.address.toLowerCase();
  const ofPayer = rig.record.transfers.filter((one) => one.payer === payer);
  // After "nonce already used", and without a chain to ask, nobody knows the transaction's name.
  const named = ofPayer.filter((one) => transaction === '' || one.transaction === transaction);
  assert(named.length > 0, `200 for ${nonce}, which names no transfer of its payer`);
  if (!isRedelivered) {
    assert(
      named.some((one) => one.nonce === nonce),
      `200 for ${nonce}, paid by another nonce`,
    );
  }
}

/** 1 and 3: what was settled is retrieved by the same header, uncharged, and by no other request. */
async function checkRetrievable(
  rig: Rig,
  calls: readonly Call[],
  { nonce, transaction }: Transfer,
): Promise<void> {
  const [first] = calls;
  assert(first !== undefined);
  const settledSoFar = rig.record.transfers.length;
  const again = await redeliver(rig, first.payment);
  assert.equal(again.status, 200, `${nonce} was settled, and is answered ${again.status}`);
  assert(['', transaction].includes(again.transaction ?? ''), `${nonce} names another transfer`);
  assert.equal(rig.record.transfers.length, settledSoFar, `${nonce} was charged twice`);
  const own = calls.filter((call) => call.status === 200 && call.transaction === transaction);
  for (const { body } of own) assert.equal(body, again.body, `${nonce} was answered in two ways`);
  const other = await rig.scan(first.payment, 'another.example.com');
  assert.equal(other.status, 409, `${nonce} bought another request`);
}

function transferOf(rig: Rig, nonce: string): Transfer | undefined {
  return rig.record.transfers.find((one) => one.nonce === nonce);
}

/** 2 and 4, for one payer who wanted one answer and got it: charged once, however often it asked. */
export function checkChargedOnce(rig: Rig, { payer }: Pick<Payment, 'payer'>): void {
  const made = rig.record.transfers.filter((one) => one.payer === payer.address.toLowerCase());
  assert.equal(made.length, 1, `${payer.address} wanted one answer and paid ${made.length} times`);
}
