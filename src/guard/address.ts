/** Applies the address lists of security.md with ipaddr.js. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { IPV4_DENIED, IPV6_ALLOWED, IPV6_DENIED, type NamedBlock } from './address-blocks.ts';

type Range = { readonly name: string; readonly cidr: [ipaddr.IPv4 | ipaddr.IPv6, number] };

type Ranges = {
  readonly ipv4Denied: readonly Range[];
  readonly ipv6Denied: readonly Range[];
  readonly ipv6Allowed: Range['cidr'];
};

/** Parses the lists on first use, because most threads need none. */
const rangesOnce = (() => {
  let ranges: Ranges | null = null;
  return (): Ranges => {
    ranges ??= {
      ipv4Denied: IPV4_DENIED.map(toRange),
      ipv6Denied: IPV6_DENIED.map(toRange),
      ipv6Allowed: ipaddr.parseCIDR(IPV6_ALLOWED),
    };
    return ranges;
  };
})();

/** Returns true unless the text is the literal of an address that may be dialled. */
export function isBlockedAddress(ip: string): boolean {
  return blockedReason(ip) !== null;
}

/**
 * Returns the name of the block that contains the address, or null for a public one. Accepts the literals
 * of `net.isIP` without a zone; anything else is refused.
 */
export function blockedReason(ip: string): string | null {
  if (isIP(ip) === 0) return 'not an IP address';
  if (ip.includes('%')) return 'IPv6 address with a zone';
  // ipaddr.process() would turn ::ffff:8.8.8.8, which no honest AAAA record has, into 8.8.8.8.
  const address = ipaddr.parse(ip);
  const { ipv4Denied, ipv6Denied, ipv6Allowed } = rangesOnce();
  const ranges = address.kind() === 'ipv4' ? ipv4Denied : ipv6Denied;
  const found = ranges.find((range) => address.match(range.cidr));
  if (found) return found.name;
  if (address.kind() === 'ipv6' && !address.match(ipv6Allowed)) {
    return 'not global unicast (outside 2000::/3)';
  }
  return null;
}

/** Compares two spellings of one address. False if either is no IP literal. */
export function sameAddress(a: string, b: string): boolean {
  if (isIP(a) === 0 || isIP(b) === 0) return false;
  return ipaddr.parse(a).toNormalizedString() === ipaddr.parse(b).toNormalizedString();
}

function toRange({ cidr, name }: NamedBlock): Range {
  return { name, cidr: ipaddr.parseCIDR(cidr) };
}
