/** A shop on the test chain. */
import { getAddress, type Hex } from 'viem';
import { createLocalFacilitator } from '../../../src/service/payment/settle/local-facilitator.ts';
import { createRemoteFacilitator } from '../../../src/service/payment/settle/remote-facilitator.ts';
import type { PaymentTerms } from '../../../src/service/payment/terms.ts';
import { type PaymentTiming, toPaymentTiming } from '../../../src/service/payment/timing.ts';
import type { TestChain } from '../../fixtures/chain/test-chain.ts';
import { newNonce, newPayer, type Payer, TERMS } from './payer.ts';
import { type ShopOptions, startShop } from './shop.ts';

/** In the proportions of the real ones; a chain on a busy machine needs a second now and then. */
export const CHAIN_TIMING: PaymentTiming = {
  ...toPaymentTiming(),
  reconcileWithinMs: 20_000,
  retryWithinMs: 3_000,
  lookIntervalMs: 100,
  resendAfterMs: [500, 1_000, 1_500, 2_000],
  firstBackoffMs: 100,
  lastBackoffMs: 300,
  sweepIntervalMs: 200,
  pollIntervalMs: 30,
};

export type Seller = {
  readonly terms: PaymentTerms;
  /** Its earnings so far in base units. */
  earned(): Promise<bigint>;
};

/** A recipient of its own, so that tests on one chain do not count each other's money. */
export function newSeller(chain: TestChain): Seller {
  const payTo = getAddress(`0x${newNonce().slice(2, 42)}`);
  return {
    terms: { ...TERMS, payTo },
    earned: () => chain.balanceOf(payTo),
  };
}

export async function fundedPayer(
  chain: TestChain,
  { terms }: Seller,
  balance?: bigint,
): Promise<Payer> {
  const { privateKey } = await chain.newPayer(balance);
  return newPayer(privateKey, terms);
}

/** A shop that settles through a facilitator's HTTP, with or without a chain to look at. */
export async function remoteShop(seller: Seller, url: string, options: ShopOptions = {}) {
  const timing = { ...CHAIN_TIMING, ...options.timing };
  const facilitator = createRemoteFacilitator({ url, timing });
  return startShop({ terms: seller.terms, facilitator, ...options, timing });
}

/** A shop that sends settlements itself, through the node at `rpcUrl`. */
export async function localShop(
  { terms }: Seller,
  options: ShopOptions & { readonly rpcUrl: string; readonly settlementKey: Hex },
) {
  const { rpcUrl, settlementKey, onEvent } = options;
  const timing = { ...CHAIN_TIMING, ...options.timing };
  const { network } = terms;
  const facilitator = createLocalFacilitator({ rpcUrl, network, settlementKey, timing, onEvent });
  return startShop({ terms, facilitator, ...options, timing });
}
