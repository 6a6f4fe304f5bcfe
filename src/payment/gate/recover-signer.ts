/** Whose key made a signature of 65 bytes. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Hex } from 'viem';
import type { EvmAddress } from '../../config/evm-address.ts';

/** Bytes of r and s. */
const COMPACT_BYTES = 64;

/**
 * The address, in lower case, of the key that signed; null where no key can have. libsecp256k1 as WebAssembly tells:
 * in JavaScript it takes seven times as long, on the thread that answers all calls. Loaded with the first payment, as
 * nothing else of a service needs it.
 */
export async function recoverSigner(
  digest: Uint8Array,
  signature: Hex,
): Promise<EvmAddress | null> {
  const { recover } = await import('tiny-secp256k1');
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const parity = parityOf(bytes.at(COMPACT_BYTES));
  if (parity === null || bytes.length !== COMPACT_BYTES + 1) return null;
  let key: Uint8Array | null;
  try {
    key = recover(digest, bytes.subarray(0, COMPACT_BYTES), parity, false);
  } catch {
    // Numbers that are zero, over the curve's order, or no point of it.
    return null;
  }
  // Without the first byte, which says that the point is not compressed.
  return key && `0x${bytesToHex(keccak_256(key.subarray(1)).subarray(-20))}`;
}

/** Wallets write the last byte in either of two ways. */
function parityOf(v: number | undefined): 0 | 1 | null {
  if (v === 0 || v === 27) return 0;
  if (v === 1 || v === 28) return 1;
  return null;
}
