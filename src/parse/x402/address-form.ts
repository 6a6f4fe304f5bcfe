import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { type AddressRole, NAMESPACES } from './namespaces.ts';
import { findNamespace } from './networks.ts';

export type AddressForm = 'ok' | 'malformed' | 'bad-checksum' | 'zero' | 'unknown-network';

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SOLANA_ADDRESS_BYTES = 32;
/** Longest base58 text of 32 bytes; decoding takes quadratic time. */
const SOLANA_ADDRESS_CHARS = 44;
const MAX_ADDRESS_CHARS = 200;

/**
 * Classifies an address by its network; without a role, as an account or an asset. EIP-55: an address in
 * one case has no checksum, a mixed-case one must have the right one. Solana: base58 of 32 bytes; all
 * zero is the system program. Other networks are checked by pattern.
 */
export function classifyAddress(network: string, address: string, role?: AddressRole): AddressForm {
  const shape = classifyAddressShape(network, address, role);
  const hasChecksum = shape === 'ok' && findNamespace(network) === 'eip155';
  return hasChecksum && !isChecksumRight(address.slice(2)) ? 'bad-checksum' : shape;
}

/** Like `addressForm`, without the checksum of EIP-55, whose hash costs more than all the rest. */
export function classifyAddressShape(
  network: string,
  address: string,
  role?: AddressRole,
): Exclude<AddressForm, 'bad-checksum'> {
  const namespace = findNamespace(network);
  if (namespace === null) return 'unknown-network';
  if (namespace === 'eip155') return evmShape(address);
  if (namespace === 'solana') return solanaShape(address);
  const { account, asset, zero } = NAMESPACES[namespace];
  if (account === undefined || asset === undefined) return 'ok';
  if (address.length > MAX_ADDRESS_CHARS) return 'malformed';
  const isAccount = role !== 'asset' && account.test(address);
  const isAsset = role !== 'account' && asset.test(address);
  if (!isAccount && !isAsset) return 'malformed';
  return role !== 'asset' && zero?.test(address) === true ? 'zero' : 'ok';
}

function evmShape(address: string): 'ok' | 'malformed' | 'zero' {
  if (!EVM_ADDRESS.test(address)) return 'malformed';
  return /^0x0+$/.test(address) ? 'zero' : 'ok';
}

function isChecksumRight(digits: string): boolean {
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return !isMixed || checksummed(digits.toLowerCase()) === digits;
}

/** EIP-55: the hash of the lower-case address decides each letter's case. */
function checksummed(digits: string): string {
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(digits)));
  return [...digits]
    .map((digit, at) => (Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit))
    .join('');
}

function solanaShape(address: string): 'ok' | 'malformed' | 'zero' {
  const bytes = address.length > SOLANA_ADDRESS_CHARS ? null : base58Bytes(address);
  if (bytes?.length !== SOLANA_ADDRESS_BYTES) return 'malformed';
  return bytes.every((byte) => byte === 0) ? 'zero' : 'ok';
}

function base58Bytes(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}
