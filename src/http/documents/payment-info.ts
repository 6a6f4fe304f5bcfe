import type { Offer } from '../../config/revision.ts';

/** Base units of a dollar, in an asset with 6 decimals. */
const BASE_UNITS_PER_DOLLAR = 1_000_000n;

/** The OpenAPI extension that marks a paid operation, as AgentCash and x402scan read it. */
export type PaymentInfo = {
  readonly price: { readonly mode: 'fixed'; readonly currency: 'USD'; readonly amount: string };
  readonly protocols: readonly [{ readonly x402: Record<string, never> }];
};

export function paymentInfo(priceBaseUnits: bigint): PaymentInfo {
  return {
    price: { mode: 'fixed', currency: 'USD', amount: dollarAmount(priceBaseUnits) },
    protocols: [{ x402: {} }],
  };
}

/** Writes six decimals: `0.050000`. */
function dollarAmount(baseUnits: bigint): string {
  const fraction = String(baseUnits % BASE_UNITS_PER_DOLLAR).padStart(6, '0');
  return `${baseUnits / BASE_UNITS_PER_DOLLAR}.${fraction}`;
}

/** Writes an amount with at least two decimals: `0.05`. */
export function dollars(baseUnits: bigint): string {
  return dollarAmount(baseUnits).replace(/0{1,4}$/, '');
}

export function priceUsd(offer: Offer): number {
  return offer.kind === 'paid' ? Number(dollarAmount(offer.priceBaseUnits)) : 0;
}
