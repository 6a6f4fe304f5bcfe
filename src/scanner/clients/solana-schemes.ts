import { webcrypto } from 'node:crypto';
import { base58 } from '@scure/base';
import type { x402Client } from '@x402/core/client';
import type { ClientSvmSigner } from '@x402/svm';
import { registerExactSvmScheme } from '@x402/svm/exact/client';
import { UptoSvmScheme } from '@x402/svm/upto/client';

export type SolanaSchemes = (client: x402Client, schemes: 'exact' | 'all') => void;

export async function createSolanaSchemes(): Promise<SolanaSchemes> {
  const signer = await createSigner();
  return (client, schemes) => {
    registerExactSvmScheme(client, { signer });
    if (schemes === 'all') client.register('solana:*', new UptoSvmScheme(signer));
  };
}

type UnsignedTransaction = { readonly messageBytes: Uint8Array<ArrayBuffer> };

/** Implements the partial signer of Solana's kit without the kit. Its Ed25519 key is never stored. */
async function createSigner(): Promise<ClientSvmSigner> {
  const pair = await webcrypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  if (!('publicKey' in pair)) throw new TypeError('Ed25519 gave no pair of keys.');
  const publicKey = await webcrypto.subtle.exportKey('raw', pair.publicKey);
  const address = base58.encode(new Uint8Array(publicKey));
  const sign = async ({ messageBytes }: UnsignedTransaction) => {
    const signature = await webcrypto.subtle.sign('Ed25519', pair.privateKey, messageBytes);
    return Object.freeze({ [address]: new Uint8Array(signature) });
  };
  const signer: unknown = Object.freeze({
    address,
    signTransactions: (list: readonly UnsignedTransaction[]) => Promise.all(list.map(sign)),
  });
  // Only the kit can create values of its branded types.
  return signer as ClientSvmSigner;
}
