import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Identifies a caller by hashes, so that the store holds no addresses. */
export type Client = {
  /** Hash of the IPv4 address, or of the /64 block of an IPv6 address, which one customer usually has. */
  readonly key: string;
  /** Hash of the /24 (IPv4) or /48 (IPv6) block around the address, which one organisation usually has. */
  readonly block: string;
  readonly disconnect?: AbortSignal | undefined;
};

const IPV6_CLIENT_BITS = 64;
const IPV6_BLOCK_BITS = 48;

export function toClientKey(ip: string): string {
  return digest(toAddressBlock(ip, IPV6_CLIENT_BITS));
}

/** IPv4, or IPv6 in brackets; the port is optional. Some proxies write address and port into X-Forwarded-For. */
const ADDRESS_AND_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d+)?$/;

/** Returns an IPv4 address, or the block of `ipv6Bits` around an IPv6 address, without the port of the connection. */
export function toAddressBlock(ip: string, ipv6Bits: number): string {
  // Most clients have an IPv4 address without a port. A proxy may also send a word in any case, such as "Unknown".
  if (!/[:[]/.test(ip)) return ip.toLowerCase();
  const [, ipv4, ipv6] = ADDRESS_AND_PORT.exec(ip) ?? [];
  const portless = ipv4 ?? ipv6 ?? ip;
  // All IPv6 addresses have a colon. `isIPv6` has a pattern that takes 4 ms to compile, so it is called only if needed.
  if (!portless.includes(':') || !isIPv6(portless)) return portless.toLowerCase();
  // The zone is dropped because the sender chooses it.
  const [address = portless] = portless.split('%', 1);
  // `process` returns an IPv4-mapped IPv6 address as IPv4.
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${ipv6Bits}`).toString();
}

export function toClient(ip: string, disconnect?: AbortSignal): Client {
  return { key: toClientKey(ip), block: digest(toNetwork(ip)), disconnect };
}

/** The /24 or /48 around an address. */
export function toNetwork(ip: string): string {
  const block = toAddressBlock(ip, IPV6_BLOCK_BITS);
  // `toAddressBlock` returns an IPv4 address without a block.
  return block.includes(':') ? block : block.replace(/\.\d+$/, '.0/24');
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
