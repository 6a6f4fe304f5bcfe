/** Applies the address lists of security.md with ipaddr.js. */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
  const range = ranges.find((range) => address.match(range.cidr));
  if (range) return range.name;
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

/**
 * Addresses that the scanner never connects to. Source: the IANA IPv4 and IPv6 special-purpose
 * address registries (as embedded in letsencrypt/boulder iana/data, 2026-08-07), the multicast
 * registries, and the RFCs named. Our own lists, because no classifier on npm is complete.
 */
export type NamedBlock = { readonly cidr: string; readonly name: string };

export const IPV4_DENIED: readonly NamedBlock[] = [
  { cidr: '0.0.0.0/8', name: '"This network" (RFC791 3.2)' },
  { cidr: '10.0.0.0/8', name: 'Private-Use (RFC1918)' },
  {
    cidr: '100.64.0.0/10',
    name: 'Shared Address Space / CGNAT (RFC6598); holds 100.100.100.200 Alibaba metadata',
  },
  { cidr: '127.0.0.0/8', name: 'Loopback (RFC1122)' },
  { cidr: '169.254.0.0/16', name: 'Link-Local (RFC3927); cloud metadata' },
  { cidr: '172.16.0.0/12', name: 'Private-Use (RFC1918)' },
  {
    cidr: '192.0.0.0/24',
    name: 'IETF Protocol Assignments (RFC6890) incl. /29 RFC7335, .8 RFC7600, .9 RFC7723, .10 RFC8155, .170-.171 RFC7050/8880, .192 Oracle metadata',
  },
  { cidr: '192.0.2.0/24', name: 'TEST-NET-1 (RFC5737)' },
  { cidr: '192.31.196.0/24', name: 'AS112-v4 (RFC7535): globally reachable anycast DNS sink' },
  { cidr: '192.52.193.0/24', name: 'AMT (RFC7450)' },
  {
    cidr: '192.88.99.0/24',
    name: 'Deprecated 6to4 relay anycast (RFC7526), incl. 192.88.99.2 6a44 (RFC6751)',
  },
  { cidr: '192.168.0.0/16', name: 'Private-Use (RFC1918)' },
  { cidr: '192.175.48.0/24', name: 'Direct Delegation AS112 (RFC7534)' },
  { cidr: '198.18.0.0/15', name: 'Benchmarking (RFC2544)' },
  { cidr: '198.51.100.0/24', name: 'TEST-NET-2 (RFC5737)' },
  { cidr: '203.0.113.0/24', name: 'TEST-NET-3 (RFC5737)' },
  { cidr: '224.0.0.0/4', name: 'Multicast (RFC5771); NOT in the special-purpose registry' },
  { cidr: '240.0.0.0/4', name: 'Reserved / class E (RFC1112 4)' },
  { cidr: '255.255.255.255/32', name: 'Limited Broadcast (RFC919, RFC8190)' },
  {
    cidr: '168.63.129.16/32',
    name: 'Azure WireServer: a PUBLIC unicast address that only answers inside Azure',
  },
];

/** Global unicast, the only IPv6 range assigned to hosts. */
export const IPV6_ALLOWED = '2000::/3';

/** Blocks outside 2000::/3 are listed as well, so that refusals name them. */
export const IPV6_DENIED: readonly NamedBlock[] = [
  { cidr: '::/128', name: 'Unspecified (RFC4291)' },
  { cidr: '::1/128', name: 'Loopback (RFC4291)' },
  { cidr: '::/96', name: 'IPv4-compatible (RFC4291 2.5.5.1, deprecated); not in the registry' },
  { cidr: '::ffff:0:0/96', name: 'IPv4-mapped (RFC4291)' },
  { cidr: '::ffff:0:0:0/96', name: 'IPv4-translated (RFC2765 SIIT)' },
  { cidr: '64:ff9b::/96', name: 'NAT64 well-known prefix (RFC6052)' },
  { cidr: '64:ff9b:1::/48', name: 'NAT64 local-use (RFC8215)' },
  { cidr: '100::/64', name: 'Discard-Only (RFC6666)' },
  { cidr: '100:0:0:1::/64', name: 'Dummy IPv6 prefix (RFC9780)' },
  {
    cidr: '2001::/23',
    name: 'IETF Protocol Assignments (RFC2928): covers Teredo 2001::/32 (RFC4380), 2001:1::1-3/128, 2001:2::/48 benchmarking (RFC5180), 2001:3::/32 AMT, 2001:4:112::/48 AS112, 2001:10::/28 ORCHID, 2001:20::/28 ORCHIDv2, 2001:30::/28 DETs',
  },
  { cidr: '2001:db8::/32', name: 'Documentation (RFC3849)' },
  { cidr: '2002::/16', name: '6to4 (RFC3056)' },
  { cidr: '2620:4f:8000::/48', name: 'Direct Delegation AS112 (RFC7534)' },
  { cidr: '3fff::/20', name: 'Documentation (RFC9637)' },
  { cidr: '5f00::/16', name: 'SRv6 SIDs (RFC9602)' },
  { cidr: 'fc00::/7', name: 'Unique-Local (RFC4193); AWS fd00:ec2::254, GCP fd20:ce::254' },
  { cidr: 'fe80::/10', name: 'Link-Local (RFC4291)' },
  { cidr: 'fec0::/10', name: 'Site-Local, deprecated (RFC3879); not in the registry' },
  { cidr: 'ff00::/8', name: 'Multicast (RFC4291); not in the registry' },
];
