import { authorizationTypes } from '@x402/evm';
import { isAddressEqual, recoverTypedDataAddress } from 'viem';
import { chainIdOf, type PaymentTerms } from './payment-terms.ts';
import type { SignedPayment } from './signed-payment.ts';

/** Characters of `0x` and 65 bytes: all other signatures are of contract wallets. */
const PLAIN_SIGNATURE_LENGTH = 132;

/**
 * Whether the key behind `from` itself signed this authorization for our token (EIP-712,
 * EIP-3009). False says nothing of contract wallets: only the chain can ask them.
 */
export async function isSignedByPayer(
  { authorization, signature }: Pick<SignedPayment, 'authorization' | 'signature'>,
  terms: PaymentTerms,
): Promise<boolean> {
  if (signature.length !== PLAIN_SIGNATURE_LENGTH) return false;
  try {
    const signer = await recoverTypedDataAddress({
      domain: {
        name: terms.assetName,
        version: terms.assetVersion,
        chainId: chainIdOf(terms.network),
        verifyingContract: terms.asset,
      },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: { ...authorization },
      signature,
    });
    return isAddressEqual(signer, authorization.from);
  } catch {
    // Bytes that are no point of the curve.
    return false;
  }
}
