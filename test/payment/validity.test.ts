/** An authorization must still be valid for some seconds, and for at most a day. */
import { describe, expect, test } from 'vitest';
import { PaymentRefused } from '../../src/payment/gate/answers.ts';
import { checkTerms, checkValidity } from '../../src/payment/gate/authorization.ts';
import { decodePayment } from '../../src/payment/gate/payment-header.ts';
import { newPayer, TERMS } from './payer.ts';
import { PRICE } from './shop.ts';

const payer = newPayer();
const NOW_SEC = 1_790_000_000;
const DAY_SEC = 86_400;

async function signed(validAfter: number, validBefore: number) {
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
])('%s', (_name, leastSec) => {
  const minValidityMs = leastSec * 1_000;
  test.each([
    [`${leastSec - 1} s left`, -1, 0, leastSec - 1, 'authorization_expired'],
    [`${leastSec} s left`, -1, 0, leastSec, null],
    [`a millisecond less than ${leastSec} s left`, -1, 1, leastSec, 'authorization_expired'],
    ['a day left', -1, 0, DAY_SEC, null],
    ['a day and a second left', -1, 0, DAY_SEC + 1, 'validity_too_long'],
    ['a validity that begins this second', 0, 0, 300, 'not_yet_valid'],
    ['a validity that began a second ago', -1, 0, 300, null],
  ])('with %s', async (_case, afterSec, lateMs, beforeSec, code) => {
    const payment = await signed(NOW_SEC + afterSec, NOW_SEC + beforeSec);
    const nowMs = NOW_SEC * 1_000 + lateMs;
    const refusal = refusalOf(() => checkValidity(payment, { minValidityMs }, nowMs));
    expect(refusal?.code ?? null).toBe(code);
    if (refusal !== null) expect(refusal.message).toContain('our clock says 2026-09-21T');
  });
});

test('an identifier opens until the last second of an authorization, and no longer', async () => {
  const payment = await signed(0, NOW_SEC);
  const requirements = {
    scheme: 'exact',
    network: TERMS.network,
    asset: TERMS.asset,
    amount: `${PRICE}`,
    payTo: TERMS.payTo,
    maxTimeoutSeconds: 300,
    extra: { name: TERMS.assetName, version: TERMS.assetVersion },
  } as const;
  const at = (nowMs: number) => refusalOf(() => checkTerms(payment, requirements, nowMs));
  expect(at(NOW_SEC * 1_000 - 1_000)).toBeNull();
  expect(at(NOW_SEC * 1_000)?.code).toBe('authorization_expired');
});
