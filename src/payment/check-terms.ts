import type { PaidRoute } from './paid-route.ts';
import { PaymentRefused } from './payment-refused.ts';
import type { PaymentTerms, Requirements } from './payment-terms.ts';
import type { SignedPayment } from './signed-payment.ts';

/** Scheme, network and token first: without them a signature cannot even be checked. */
export function checkRail({ accepted }: SignedPayment, terms: PaymentTerms): void {
  if (accepted.scheme !== 'exact') {
    throw new PaymentRefused('wrong_scheme', 'sign an authorization of scheme "exact"');
  }
  if (accepted.network !== terms.network) {
    throw new PaymentRefused('wrong_network', `pay on ${terms.network}`);
  }
  if (accepted.asset !== null && !same(accepted.asset, terms.asset)) {
    throw new PaymentRefused('wrong_asset', `pay in the token ${terms.asset}`);
  }
}

/**
 * Whether a payment that was never seen offers what the route asks now. `accepted` is compared by
 * its terms alone: official clients drop and fill the other members.
 */
export function checkTerms(
  { accepted, authorization }: SignedPayment,
  requirements: Requirements,
  route: PaidRoute,
  nowMs: number,
): void {
  const { amount, payTo } = requirements;
  if (!same(authorization.to, payTo) || (accepted.payTo !== null && !same(accepted.payTo, payTo))) {
    throw new PaymentRefused('wrong_recipient', `sign a transfer to ${payTo}`);
  }
  const isPrice = authorization.value === BigInt(amount);
  if (!isPrice || (accepted.amount !== null && accepted.amount !== amount)) {
    throw new PaymentRefused('wrong_amount', `sign for exactly ${amount} base units`);
  }
  const now = `our clock says ${new Date(nowMs).toISOString()}`;
  if (authorization.validAfter * 1000n >= BigInt(Math.ceil(nowMs))) {
    throw new PaymentRefused('not_yet_valid', `set validAfter into the past, or to 0; ${now}`);
  }
  const earliestMs = BigInt(Math.ceil(nowMs) + route.minValidityMs);
  if (authorization.validBefore * 1000n < earliestMs) {
    throw new PaymentRefused(
      'authorization_expired',
      `set validBefore at least ${route.minValidityMs / 1000} s ahead; ${now}`,
    );
  }
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
