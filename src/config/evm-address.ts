/**
 * EVM addresses (EIP-55) without viem: the start needs two addresses, and viem would load 360 modules
 * for them.
 */
import { createECDH } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export type EvmAddress = `0x${string}`;

const FORM = /^0x[0-9a-fA-F]{40}$/;
const KEY = /^0x[0-9a-fA-F]{64}$/;
export const ZERO_ADDRESS: EvmAddress = `0x${'0'.repeat(40)}`;

/** Checks the form and ignores the checksum. */
export function isEvmAddress(value: unknown): value is EvmAddress {
  return typeof value === 'string' && FORM.test(value);
}

/** True for lower case throughout, and for mixed case with the right EIP-55 checksum. */
export function isChecksummed(value: string): value is EvmAddress {
  return isEvmAddress(value) && (value === value.toLowerCase() || value === checksummed(value));
}

/** EIP-55: a letter is upper case where its digit in the hash of the lower-case address is 8 or more. */
export function checksummed(address: string): EvmAddress {
  const digits = address.slice(2).toLowerCase();
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(digits)));
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}

export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The account of a secp256k1 private key; null for an invalid key. */
export function addressOfKey(key: string): EvmAddress | null {
  if (!KEY.test(key)) return null;
  const curve = createECDH('secp256k1');
  try {
    curve.setPrivateKey(key.slice(2), 'hex');
  } catch {
    return null;
  }
  // The first byte only marks the point as uncompressed.
  const hash = keccak_256(curve.getPublicKey().subarray(1));
  return checksummed(`0x${bytesToHex(hash.subarray(-20))}`);
}
