/** The signed fields of a payment: its key, its signer, its terms. */
import { hash } from 'node:crypto';
import { isSameAddress } from '../../config/parse-values.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { Authorization, PaidRoute, SignedPayment } from '../paid-route.ts';
import { PaymentRefused, type PaymentTerms, parseChainId, type Requirements } from './challenge.ts';

/**
 * The ledger's key: who spends which nonce of which token, never bytes of a header, so that no
 * other spelling of a payment is another payment.
 */
export function paymentKey(
  terms: PaymentTerms,
  { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
): string {
  return [terms.network, terms.asset, from, nonce].join(':').toLowerCase();
}

export function payerOf(payment: SignedPayment): string {
  return payment.authorization.from.toLowerCase();
}

/** Looks like a transaction hash, and is the same whenever the same payment is settled again. */
export function mockTransaction(key: string): `0x${string}` {
  return `0x${hash('sha256', `mock settlement of ${key}`)}`;
}

/** Clients sign for five minutes; what is valid longer would have to be remembered longer. */
const MAX_VALIDITY_MS = 24 * 3_600_000;
/** Characters of `0x` and 65 bytes: all other signatures are of contract wallets. */
const PLAIN_SIGNATURE_LENGTH = 132;

/** True for signatures of 65 bytes: plain accounts make them, and some contracts take them. */
export function isPlainSignature({ signature }: Pick<SignedPayment, 'signature'>): boolean {
  return signature.length === PLAIN_SIGNATURE_LENGTH;
}

/** Resolves to true where the key behind `from` itself signed. */
export type SignerCheck = (
  payment: Pick<SignedPayment, 'authorization' | 'signature'>,
) => Promise<boolean>;

/**
 * Recovers the signer of an authorization for our token (EIP-712, EIP-3009). False says nothing of
 * contract wallets: only the chain can ask them.
 */
export function signerCheck({ network, asset, ...token }: PaymentTerms): SignerCheck {
  const domain = {
    name: token.assetName,
    version: token.assetVersion,
    chainId: parseChainId(network),
    verifyingContract: asset,
  };
  return async ({ authorization, signature }) => {
    if (!isPlainSignature({ signature })) return false;
    // Loaded with the first payment: no start waits for the modules of viem.
    const [{ recoverTypedDataAddress }, { authorizationTypes }] = await Promise.all([
      import('viem'),
      import('@x402/evm'),
    ]);
    const signer = await recoverTypedDataAddress({
      domain,
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: authorization,
      signature,
    }).catch(() => null); // numbers that are no signature of any key
    return signer !== null && isSameAddress(signer, authorization.from);
  };
}

/**
 * Throws where a new payment offers other terms than the route's of now. `accepted` is compared by
 * its terms alone: official clients drop and fill the other members.
 */
export function checkTerms(
  { accepted, authorization }: SignedPayment,
  requirements: Requirements,
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
  if (authorization.validBefore * 1000n <= BigInt(Math.ceil(nowMs))) {
    throw new PaymentRefused('authorization_expired', `sign a new one; ${saysNow(nowMs)}`);
  }
}

/** Throws where the validity is too short to work and settle in, or too long to be remembered. */
export function checkValidity(
  { authorization }: Pick<SignedPayment, 'authorization'>,
  { minValidityMs }: Pick<PaidRoute, 'minValidityMs'>,
  nowMs: number,
): void {
  const now = saysNow(nowMs);
  if (authorization.validAfter * 1000n >= BigInt(Math.ceil(nowMs))) {
    throw new PaymentRefused('not_yet_valid', `set validAfter into the past, or to 0; ${now}`);
  }
  const earliestMs = BigInt(Math.ceil(nowMs) + minValidityMs);
  if (authorization.validBefore * 1000n < earliestMs) {
    throw new PaymentRefused(
      'authorization_expired',
      `set validBefore at least ${minValidityMs / 1000} s ahead; ${now}`,
    );
  }
  if (authorization.validBefore * 1000n > BigInt(Math.floor(nowMs) + MAX_VALIDITY_MS)) {
    throw new PaymentRefused(
      'validity_too_long',
      `set validBefore at most ${MAX_VALIDITY_MS / 3_600_000} h ahead; ${now}`,
    );
  }
}

/** The first signed field in which a payment differs from the one that holds its key, or null. */
export function differingField(
  stored: StoredPayment,
  { authorization }: SignedPayment,
): 'to' | 'value' | 'validAfter' | 'validBefore' | null {
  const held = stored.authorization;
  if (!same(held.to, authorization.to)) return 'to';
  if (held.value !== authorization.value) return 'value';
  if (held.validAfter !== authorization.validAfter) return 'validAfter';
  if (held.validBefore !== authorization.validBefore) return 'validBefore';
  return null;
}

function saysNow(nowMs: number): string {
  return `our clock says ${new Date(nowMs).toISOString()}`;
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
