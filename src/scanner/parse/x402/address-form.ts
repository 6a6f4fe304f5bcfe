import { base58 } from '@scure/base';
import { type AddressRole, isEvmAddress, NAMESPACES, toChecksummed } from './namespaces.ts';
import { findNamespace } from './networks.ts';

type AddressForm = 'ok' | 'malformed' | 'bad-checksum' | 'zero' | 'unknown-network';

const SOLANA_ADDRESS_BYTES = 32;
/** 32 bytes have at most 44 characters of base58. Longer texts are refused, because decoding takes quadratic time. */
const MAX_SOLANA_ADDRESS_CHARS = 44;
const MAX_ADDRESS_CHARS = 200;

/**
 * Classifies an address by the rules of its network. Without a role, the address may be an account or an asset.
 * On EVM chains, an address in mixed case has a checksum (EIP-55), and an address in one case has none.
 */
export function classifyAddress(network: string, address: string, role?: AddressRole): AddressForm {
  const form = classifyAddressShape(network, address, role);
  const mayHaveChecksum = form === 'ok' && findNamespace(network) === 'eip155';
  return mayHaveChecksum && !isChecksumValid(address) ? 'bad-checksum' : form;
}

/** Like `classifyAddress`, but does not test the checksum of EIP-55, whose hash takes most of the time. */
export function classifyAddressShape(
  network: string,
  address: string,
  role?: AddressRole,
): Exclude<AddressForm, 'bad-checksum'> {
  const namespace = findNamespace(network);
  if (namespace === null) return 'unknown-network';
  if (namespace === 'eip155') return classifyEvmAddress(address);
  if (namespace === 'solana') return classifySolanaAddress(address);
  const { account, asset, zero } = NAMESPACES[namespace];
  // We do not judge the addresses of this namespace.
  if (account === undefined || asset === undefined) return 'ok';
  if (address.length > MAX_ADDRESS_CHARS) return 'malformed';
  const isAccount = role !== 'asset' && account.test(address);
  const isAsset = role !== 'account' && asset.test(address);
  if (!isAccount && !isAsset) return 'malformed';
  return role !== 'asset' && zero?.test(address) === true ? 'zero' : 'ok';
}

function classifyEvmAddress(address: string): 'ok' | 'malformed' | 'zero' {
  if (!isEvmAddress(address)) return 'malformed';
  return /^0x0+$/.test(address) ? 'zero' : 'ok';
}

function isChecksumValid(address: string): boolean {
  const digits = address.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return !isMixed || toChecksummed(address) === address;
}

/** An address is base58 of 32 bytes. The address of the system program is 32 zero bytes. */
function classifySolanaAddress(address: string): 'ok' | 'malformed' | 'zero' {
  const bytes = address.length > MAX_SOLANA_ADDRESS_CHARS ? null : decodeBase58(address);
  if (bytes?.length !== SOLANA_ADDRESS_BYTES) return 'malformed';
  return bytes.every((byte) => byte === 0) ? 'zero' : 'ok';
}

function decodeBase58(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}
