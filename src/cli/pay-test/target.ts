import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Address } from '../../scanner/guard/name-servers.ts';
import { PayTestImpossible } from './result.ts';

/** The seller under test. Its name is resolved once, and the pay-test connects only to these addresses. */
export type Target = {
  /** "http://127.0.0.1:3000" */
  readonly origin: string;
  readonly hostname: string;
  readonly port: number;
  readonly addresses: readonly [Address, ...Address[]];
};

const OWN_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);

/** True for addresses in loopback, RFC 1918 and fc00::/7. */
export function isOwnAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  return OWN_RANGES.has(ipaddr.process(address).range());
}

export type NameLookup = (hostname: string) => Promise<readonly Address[]>;

const systemLookup: NameLookup = async (hostname) => {
  const addresses = await lookup(hostname, { all: true });
  return addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** Throws PayTestImpossible for public addresses. */
export async function resolveTarget(
  input: string,
  resolveName: NameLookup = systemLookup,
): Promise<Target> {
  const url = URL.parse(input.includes('://') ? input : `http://${input}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new PayTestImpossible(
      `${input}: give the address of your seller, such as http://127.0.0.1:3000`,
    );
  }
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const [first, ...others] = await resolveOwnAddresses(hostname, resolveName);
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { origin: url.origin, hostname, port, addresses: [first, ...others] };
}

/** Throws PayTestImpossible if any address of the name is public. */
export async function resolveOwnAddresses(
  hostname: string,
  resolveName: NameLookup = systemLookup,
): Promise<readonly [Address, ...Address[]]> {
  const addresses = await resolveName(hostname).catch(() => []);
  const [first, ...others] = addresses;
  if (first === undefined)
    throw new PayTestImpossible(`${hostname} does not resolve: check the name`);
  const publicAddress = addresses.find(({ address }) => !isOwnAddress(address));
  if (publicAddress === undefined) return [first, ...others];
  throw new PayTestImpossible(
    `${hostname} is at ${publicAddress.address}: a pay-test asks only loopback and private addresses, because it is for your own seller`,
  );
}
