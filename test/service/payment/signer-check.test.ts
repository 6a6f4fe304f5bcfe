/** The signer check says whether the payer signed a payment. */
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { decodePayment } from '../../../src/service/payment/gate/payment-header.ts';
import { createSignerCheck } from '../../../src/service/payment/terms.ts';
import { newPayer, TERMS } from './payer.ts';

const isSigned = createSignerCheck(TERMS);

async function newSignedPayment() {
  const { header } = await newPayer().sign({ value: 50_000n });
  return decodePayment({ 'payment-signature': [header] }, TERMS);
}

test('the check accepts a signature by the key of `from`, in either spelling of its last byte', async () => {
  const { authorization, signature } = await newSignedPayment();
  const [start, lastByte] = [signature.slice(0, -2), Number.parseInt(signature.slice(-2), 16)];
  expect([27, 28]).toContain(lastByte);
  const otherSpelling = `${start}0${lastByte - 27}` as const;
  for (const spelling of [signature, otherSpelling as typeof signature]) {
    expect(await isSigned({ authorization, signature: spelling })).toBe(true);
  }
});

test('the check refuses the signature of another payment, of other fields, or of another token', async () => {
  const [{ authorization, signature }, otherPayment] = [
    await newSignedPayment(),
    await newSignedPayment(),
  ];
  const changedFields = [
    { value: 1n },
    { to: otherPayment.authorization.from },
    { from: otherPayment.authorization.from },
    { validAfter: 1n },
    { validBefore: 1n },
    { nonce: otherPayment.authorization.nonce },
  ];
  expect(await isSigned({ authorization, signature: otherPayment.signature })).toBe(false);
  for (const fields of changedFields) {
    expect(await isSigned({ authorization: { ...authorization, ...fields }, signature })).toBe(
      false,
    );
  }
  for (const token of [
    { assetName: 'USDC' },
    { assetVersion: '1' },
    { network: 'eip155:1' },
  ] as const) {
    expect(await createSignerCheck({ ...TERMS, ...token })({ authorization, signature })).toBe(
      false,
    );
  }
});

test.each<[Hex, string]>([
  ['0x', 'no bytes'],
  [`0x${'11'.repeat(64)}`, '64 bytes'],
  [`0x${'11'.repeat(66)}`, '66 bytes'],
  [`0x${'00'.repeat(64)}1b`, 'zeros'],
  [`0x${'ff'.repeat(64)}1b`, 'numbers over the order of the curve'],
  [`0x${'11'.repeat(64)}1d`, 'a last byte that says no side of the curve'],
])('the check refuses %s: %s', async (signature) => {
  const { authorization } = await newSignedPayment();
  expect(await isSigned({ authorization, signature })).toBe(false);
});
