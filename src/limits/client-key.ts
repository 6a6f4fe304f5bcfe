import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A caller as hashes, so that the store holds no addresses. */
export type Client = {
  /** An IPv4 address, or the /64 block that one IPv6 customer holds. */
  readonly key: string;
  /** The /24 or /48 around it, a usual size of one organisation's network. */
  readonly block: string;
  /** Aborted when the client disconnects; a fetch that nobody waits for does not begin. */
  readonly disconnect?: AbortSignal | undefined;
};

const IPV6_CLIENT_BITS = 64;
const IPV6_BLOCK_BITS = 48;

export function clientKey(ip: string): string {
  return digest(addressBlock(ip, IPV6_CLIENT_BITS));
}

/** An address and its port, as some proxies state both in X-Forwarded-For. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d+)?$/;

/**
 * An IPv4 address, or the block of `ipv6Bits` around an IPv6 address. Drops the port, which differs for
 * each connection of a client.
 */
export function addressBlock(ip: string, ipv6Bits: number): string {
  // Most clients have a plain IPv4 address.
  if (!/[:[]/.test(ip)) return ip.toLowerCase();
  const [, ipv4, ipv6] = WITH_PORT.exec(ip) ?? [];
  const bare = ipv4 ?? ipv6 ?? ip;
  // Every IPv6 address has a colon; the pattern that knows them takes 4 ms to compile.
  if (!bare.includes(':') || !isIPv6(bare)) return bare.toLowerCase();
  // The zone is dropped because the sender chooses it.
  const [address = bare] = bare.split('%', 1);
  // A mapped IPv4 address comes back as IPv4.
  const plain = ipaddr.process(address);
  if (plain.kind() === 'ipv4') return plain.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${ipv6Bits}`).toString();
}

export function toClient(ip: string, disconnect?: AbortSignal): Client {
  return { key: clientKey(ip), block: digest(toNetwork(ip)), disconnect };
}

/** The /24 or /48 around an address. */
export function toNetwork(ip: string): string {
  const wide = addressBlock(ip, IPV6_BLOCK_BITS);
  // IPv4 comes back whole, mapped addresses as IPv4.
  return wide.includes(':') ? wide : wide.replace(/\.\d+$/, '.0/24');
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
