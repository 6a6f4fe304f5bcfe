/** Parses EVM addresses, keys, and settings that need more than a pattern. A bad setting throws SettingError. */

import { createECDH } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import ipaddr from 'ipaddr.js';
import { type Settings, toSettingError } from './environment.ts';

/** Addresses are computed without viem, because viem would load 360 modules at the start of the service. */
export type EvmAddress = `0x${string}`;

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/;
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

export function isSameAddress(first: string, second: string): boolean {
  return first.toLowerCase() === second.toLowerCase();
}

/** Computes the address of a secp256k1 private key; null for an invalid key. */
export function deriveAddress(key: string): EvmAddress | null {
  if (!PRIVATE_KEY.test(key)) return null;
  const curve = createECDH('secp256k1');
  try {
    curve.setPrivateKey(key.slice(2), 'hex');
  } catch {
    return null;
  }
  // The first byte only says that the point is not compressed.
  const hash = keccak_256(curve.getPublicKey().subarray(1));
  return toChecksummed(`0x${bytesToHex(hash.subarray(-20))}`);
}

type WebAddressSetting =
  | 'BASE_URL'
  | 'SITE_URL'
  | 'FACILITATOR_URL'
  | 'RPC_URL'
  | 'SOLANA_RPC_URL'
  | 'X402SCAN_URL'
  | 'BAZAAR_URL'
  | 'ECOSYSTEM_URL';

/** Returns the URL without a trailing slash; null if the setting is not set. Throws SettingError. */
export function readWebAddress(
  settings: Settings,
  name: WebAddressSetting,
  path: 'no path' | 'any path' = 'no path',
): string | null {
  const value = settings[name];
  if (value === undefined) return null;
  const refusal = toSettingError(name, value);
  const url = URL.parse(value);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw refusal;
  if (path === 'any path') return value.replace(/\/+$/, '');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw refusal;
  }
  return url.origin;
}

export function parsePorts(list: string): number[] {
  const ports = splitList(list).map((entry) => (/^\d{1,5}$/.test(entry) ? Number(entry) : 0));
  if (ports.length === 0 || ports.some((port) => port < 1 || port > 65_535)) {
    throw toSettingError('SCAN_ALLOWED_PORTS', list);
  }
  return ports;
}

/** Returns addresses and CIDR blocks; null if the setting is not set. Throws SettingError. */
export function readAddressBlocks(
  settings: Settings,
  name: 'TRUST_PROXY' | 'METRICS_ALLOW',
): string[] | null {
  const list = settings[name];
  if (list === undefined) return null;
  const blocks = splitList(list);
  if (!blocks.every((block) => ipaddr.isValid(block) || ipaddr.isValidCIDR(block))) {
    throw toSettingError(name, list);
  }
  return blocks;
}

/** Returns the entries of a list with commas, without blanks and empty entries. */
export function splitList(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

export function parseEvmAddress(name: 'PAY_TO' | 'ASSET', value: string): EvmAddress {
  if (!isChecksummed(value) || value === ZERO_ADDRESS) throw toSettingError(name, value);
  return toChecksummed(value);
}
