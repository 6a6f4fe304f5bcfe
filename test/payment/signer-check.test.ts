/** The signer check says whether the payer signed a payment. */
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { decodePayment } from '../../src/payment/gate/payment-header.ts';
import { createSignerCheck } from '../../src/payment/terms.ts';
import { newPayer, TERMS } from './payer.ts';

const isSigned = createSignerCheck(TERMS);

async function decoded() {
  const { header } = await newPayer().sign({ value: 50_000n });
  return decodePayment({ 'payment-signature': [header] }, TERMS);
}

test('the check accepts a signature by the key of `from`, in either spelling of its last byte', async () => {
  const { authorization, signature } = await decoded();
  const [start, last] = [signature.slice(0, -2), Number.parseInt(signature.slice(-2), 16)];
  expect([27, 28]).toContain(last);
  const other = `${start}0${last - 27}` as const;
  for (const spelling of [signature, other as typeof signature]) {
    expect(await isSigned({ authorization, signature: spelling })).toBe(true);
  }
});

test('the check refuses a signature of another payment, for other fields or for another token', async () => {
  const [{ authorization, signature }, other] = [await decoded(), await decoded()];
  const changed = [
    { value: 1n },
    { to: other.authorization.from },
    { from: other.authorization.from },
    { validAfter: 1n },
    { validBefore: 1n },
    { nonce: other.authorization.nonce },
  ];
  expect(await isSigned({ authorization, signature: other.signature })).toBe(false);
  for (const fields of changed) {
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
  ['0x', 'nothing'],
  [`0x${'11'.repeat(64)}`, '64 bytes'],
  [`0x${'11'.repeat(66)}`, '66 bytes'],
  [`0x${'00'.repeat(64)}1b`, 'zeros'],
  [`0x${'ff'.repeat(64)}1b`, 'numbers over the order of the curve'],
  [`0x${'11'.repeat(64)}1d`, 'a last byte that says no side of the curve'],
])('the check refuses %s: %s', async (signature) => {
  const { authorization } = await decoded();
  expect(await isSigned({ authorization, signature })).toBe(false);
});
