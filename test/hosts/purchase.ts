/** Signed payments for any instance. */
import type { Hex } from 'viem';
import { REVISIONS } from '../../src/service/config/revision.ts';
import { toPaymentKey } from '../../src/service/payment/terms.ts';
import { newPayer, TERMS } from '../service/payment/payer.ts';

export type PaidOperation = 'scan' | 'changes';

/** One signed authorization, for one call of any instance. */
export type Purchase = {
  /** Its key in the ledger that the instances share. */
  readonly key: string;
  readonly address: `0x${string}`;
  readonly nonce: Hex;
  readonly headers: { readonly 'payment-signature': string };
  /** Address of the caller for instances behind a proxy. Tests use many, because instances count requests by caller. */
  readonly client: { readonly 'x-forwarded-for': string };
};

/** Base units. */
export function priceOf(operation: PaidOperation): bigint {
  const offer = REVISIONS['0.3.0'].offers[operation];
  if (offer?.kind !== 'paid') throw new Error(`${operation} is not sold`);
  return offer.priceBaseUnits;
}

/** Signed by a new account, unless the key of one that holds tokens is given. */
export async function newPurchase(operation: PaidOperation, privateKey?: Hex): Promise<Purchase> {
  const payer = newPayer(privateKey);
  const { header, nonce } = await payer.sign({ value: priceOf(operation) });
  return {
    key: toPaymentKey(TERMS, {
      from: payer.address,
      nonce,
    }),
    address: payer.address,
    nonce,
    headers: { 'payment-signature': header },
    client: { 'x-forwarded-for': clientOf(payer.address) },
  };
}

function clientOf(address: string): string {
  const [third = 0, last = 0] = Buffer.from(address.slice(2, 6), 'hex');
  return `10.0.${third}.${last}`;
}
