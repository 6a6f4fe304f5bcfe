/** Addresses of EVM chains, computed without viem, because viem would load 360 modules at the start of the service. */

import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export type EvmAddress = `0x${string}`;

export const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
export const ZERO_ADDRESS: EvmAddress = `0x${'0'.repeat(40)}`;

/** Checks the form and ignores the checksum. */
export function isEvmAddress(value: unknown): value is EvmAddress {
  return typeof value === 'string' && EVM_ADDRESS.test(value);
}

/** True for an address in lower case, and for an address in mixed case with the right EIP-55 checksum. */
export function isChecksummed(value: string): value is EvmAddress {
  return isEvmAddress(value) && (value === value.toLowerCase() || value === toChecksummed(value));
}

/** EIP-55: a letter is upper case if the digit at its index in the hash of the lower-case address is 8 or more. */
export function toChecksummed(address: string): EvmAddress {
  const digits = address.slice(2).toLowerCase();
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(digits)));
  const mixedCase = [...digits].map((digit, index) =>
    Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${mixedCase.join('')}`;
}
