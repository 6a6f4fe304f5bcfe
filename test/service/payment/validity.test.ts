/** An authorization must still be valid for some seconds, and for at most a day. */
import { describe, expect, test } from 'vitest';
import { checkTerms, checkValidity } from '../../../src/service/payment/gate/authorization.ts';
import { decodePayment } from '../../../src/service/payment/gate/payment-header.ts';
import { PaymentRefused } from '../../../src/service/payment/gate/refusals.ts';
import { newPayer, PRICE, REQUIREMENTS, TERMS } from './payer.ts';

const payer = newPayer();
const NOW_SEC = 1_790_000_000;
const DAY_SEC = 86_400;

async function signPayment(validAfter: number, validBefore: number) {
  const { header } = await payer.sign({
    value: PRICE,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
  });
  return decodePayment({ 'payment-signature': [header] }, TERMS);
}

function refusalOf(check: () => void): PaymentRefused | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof PaymentRefused) return error;
    throw error;
  }
}

describe.each([
  ['a scan', 90],
  ['everything else', 20],
])('for %s, an authorization', (_name, leastSec) => {
  const minValidityMs = leastSec * 1_000;
  test.each([
    [`${leastSec - 1} s left`, 'authorization_expired', -1, 0, leastSec - 1],
    [`${leastSec} s left`, 'accepted', -1, 0, leastSec],
    [`a millisecond less than ${leastSec} s left`, 'authorization_expired', -1, 1, leastSec],
    ['a day left', 'accepted', -1, 0, DAY_SEC],
    ['a day and a second left', 'validity_too_long', -1, 0, DAY_SEC + 1],
    ['a validity that begins this second', 'not_yet_valid', 0, 0, 300],
    ['a validity that began a second ago', 'accepted', -1, 0, 300],
  ])('with %s is %s', async (_case, outcome, afterSec, lateMs, beforeSec) => {
    const payment = await signPayment(NOW_SEC + afterSec, NOW_SEC + beforeSec);
    const nowMs = NOW_SEC * 1_000 + lateMs;
    const refusal = refusalOf(() => checkValidity(payment, { minValidityMs }, nowMs));
    expect(refusal?.code ?? 'accepted').toBe(outcome);
    if (refusal === null) return;
    expect(refusal.message).toContain('our clock says 2026-09-21T');
    if (outcome === 'authorization_expired') {
      expect(refusal.message).toContain(`at least ${leastSec} s ahead`);
    }
    if (outcome === 'validity_too_long') expect(refusal.message).toContain('at most 24 h ahead');
  });
});

test('with an identifier, an authorization opens a stored answer until its last second', async () => {
  const payment = await signPayment(0, NOW_SEC);
  const refusalAt = (nowMs: number) => refusalOf(() => checkTerms(payment, REQUIREMENTS, nowMs));
  expect(refusalAt(NOW_SEC * 1_000 - 1_000)).toBeNull();
  expect(refusalAt(NOW_SEC * 1_000)?.code).toBe('authorization_expired');
});
