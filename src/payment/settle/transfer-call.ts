import { eip3009ABI } from '@x402/evm';
import { encodeFunctionData, type Hex, parseSignature } from 'viem';
import type { StoredPayment } from '../ledger/ledger.ts';

/** Characters of `0x` and 65 bytes. Signatures of another length are those of contract wallets. */
const PLAIN_SIGNATURE_LENGTH = 132;

/** Encodes the token's call (EIP-3009). Plain signatures go in three parts, as older tokens take no bytes. */
export function transferCall({ authorization, signature }: StoredPayment): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const transfer = [from, to, value, validAfter, validBefore, nonce] as const;
  const parts = signature.length === PLAIN_SIGNATURE_LENGTH ? partsOf(signature) : null;
  return encodeFunctionData({
    abi: eip3009ABI,
    functionName: 'transferWithAuthorization',
    args: parts === null ? [...transfer, signature] : [...transfer, ...parts],
  });
}

/** Null for 65 bytes that are no ECDSA signature, which only a contract wallet can check. */
function partsOf(signature: Hex): readonly [v: number, r: Hex, s: Hex] | null {
  try {
    const { r, s, v, yParity } = parseSignature(signature);
    return [Number(v ?? BigInt(yParity + 27)), r, s];
  } catch {
    return null;
  }
}
