/**
 * Addresses of EVM accounts (EIP-55), and the one of a key. By a hash and a curve alone: a service
 * that starts reads two addresses, and the packages of a chain have 360 modules.
 */
import { createECDH } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export type EvmAddress = `0x${string}`;

const FORM = /^0x[0-9a-fA-F]{40}$/;
const KEY = /^0x[0-9a-fA-F]{64}$/;
export const ZERO_ADDRESS: EvmAddress = `0x${'0'.repeat(40)}`;

/** Of the right form; a checksum that it carries is not looked at. */
export function isEvmAddress(value: unknown): value is EvmAddress {
  return typeof value === 'string' && FORM.test(value);
}

/** Of the right form, with the right checksum where it is not in lower case throughout. */
export function isChecksummed(value: string): value is EvmAddress {
  return isEvmAddress(value) && (value === value.toLowerCase() || value === checksummed(value));
}

/** A letter is upper case where the hash of the address in lower case says so. */
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

/** The account of a private key; null where it is none of secp256k1. */
export function addressOfKey(key: string): EvmAddress | null {
  if (!KEY.test(key)) return null;
  const curve = createECDH('secp256k1');
  try {
    curve.setPrivateKey(key.slice(2), 'hex');
  } catch {
    return null;
  }
  // Without the first byte, which says that the point is not compressed.
  const hash = keccak_256(curve.getPublicKey().subarray(1));
  return checksummed(`0x${bytesToHex(hash.subarray(-20))}`);
}
