/** A signature is recovered once a call, and never taken for another one. */
import { expect, test } from 'vitest';
import { rememberingSignerCheck } from '../../src/payment/gate/authorization.ts';
import { decodePayment } from '../../src/payment/gate/payment-header.ts';
import { newPayer, TERMS } from './payer.ts';

test('the same authorization and signature are looked at once', async () => {
  const isSigned = rememberingSignerCheck(TERMS);
  const payment = await decoded();
  const first = isSigned(payment);
  expect(await first).toBe(true);
  // As the gate hands it on: another object around the same authorization.
  expect(isSigned({ ...payment })).toBe(first);
});

test('another signature over it, and another authorization with its signature, are looked at anew', async () => {
  const isSigned = rememberingSignerCheck(TERMS);
  const [payment, other] = [await decoded(), await decoded()];
  expect(await isSigned(payment)).toBe(true);
  const { authorization, signature } = payment;
  expect(await isSigned({ authorization, signature: other.signature })).toBe(false);
  expect(await isSigned({ authorization: { ...authorization, value: 1n }, signature })).toBe(false);
  expect(await isSigned({ authorization, signature })).toBe(true);
});

async function decoded() {
  const { header } = await newPayer().sign({ value: 50_000n });
  return decodePayment({ 'payment-signature': [header] }, TERMS);
}
