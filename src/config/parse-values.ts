/** Parsers for values that need more than a pattern; each throws SettingError with the setting's name. */
import ipaddr from 'ipaddr.js';
import { acceptedFor, SettingError, type Settings } from './environment.ts';
import { checksummed, type EvmAddress, isChecksummed, ZERO_ADDRESS } from './evm-address.ts';

type WebAddressSetting =
  | 'BASE_URL'
  | 'SITE_URL'
  | 'FACILITATOR_URL'
  | 'RPC_URL'
  | 'SOLANA_RPC_URL'
  | 'X402SCAN_URL'
  | 'BAZAAR_URL'
  | 'ECOSYSTEM_URL';

/** Strips the trailing slash; null where the setting is empty. */
export function webAddress(
  settings: Settings,
  name: WebAddressSetting,
  path: 'no path' | 'any path' = 'no path',
): string | null {
  const value = settings[name];
  if (value === undefined) return null;
  const refusal = new SettingError(name, value, acceptedFor(name));
  if (!URL.canParse(value)) throw refusal;
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusal;
  if (path === 'any path') return value.replace(/\/+$/, '');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw refusal;
  }
  return url.origin;
}

export function portList(list: string): number[] {
  const ports = entriesOf(list).map((entry) => (/^\d{1,5}$/.test(entry) ? Number(entry) : 0));
  if (ports.length === 0 || ports.some((port) => port < 1 || port > 65_535)) {
    throw new SettingError('SCAN_ALLOWED_PORTS', list, acceptedFor('SCAN_ALLOWED_PORTS'));
  }
  return ports;
}

export function addressBlocks(
  settings: Settings,
  name: 'TRUST_PROXY' | 'METRICS_ALLOW',
): string[] | null {
  const list = settings[name];
  if (list === undefined) return null;
  const blocks = entriesOf(list);
  if (!blocks.every((block) => ipaddr.isValid(block) || ipaddr.isValidCIDR(block))) {
    throw new SettingError(name, list, acceptedFor(name));
  }
  return blocks;
}

function entriesOf(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

export function evmAddress(name: 'PAY_TO' | 'ASSET', value: string): EvmAddress {
  if (!isChecksummed(value) || value === ZERO_ADDRESS) {
    throw new SettingError(name, value, acceptedFor(name));
  }
  return checksummed(value);
}
