/** Parses settings that need more than a pattern. A bad setting throws SettingError. */

import ipaddr from 'ipaddr.js';
import {
  type EvmAddress,
  isChecksummed,
  toChecksummed,
  ZERO_ADDRESS,
} from '../../scanner/parse/x402/namespaces.ts';
import { type Settings, toSettingError } from './environment.ts';

type WebAddressSetting = 'BASE_URL' | 'SITE_URL' | 'FACILITATOR_URL';

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

export function parsePayTo(value: string): EvmAddress {
  if (!isChecksummed(value) || value === ZERO_ADDRESS) throw toSettingError('PAY_TO', value);
  return toChecksummed(value);
}
