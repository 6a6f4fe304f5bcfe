/** The account of the EVM buyers: it reads what it is to sign as a wallet does, and holds no key. */
import type { ClientEvmSigner } from '@x402/evm';
import type { TypedDataDefinition } from 'viem';
import { bytesToHex, getAddress, hashTypedData } from './viem-without-chains.ts';

const ADDRESS_BYTES = 20;
const SIGNATURE_BYTES = 65;

/**
 * A bare account without reads of a chain, so every scheme signs from the offer alone. `signTypedData`
 * rejects with what viem's own accounts say of types and values that cannot be hashed. The signature
 * is random: no client reads it back, deriving keys costs more than all trials of a scan, and a
 * payment that leaked could not be spent.
 */
export function createKeylessAccount(): ClientEvmSigner {
  return {
    address: getAddress(randomHex(ADDRESS_BYTES)),
    async signTypedData(message) {
      // Made of what an origin sent; viem checks types and values itself.
      hashTypedData(message as unknown as TypedDataDefinition);
      return randomHex(SIGNATURE_BYTES);
    },
  };
}

function randomHex(bytes: number): `0x${string}` {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
