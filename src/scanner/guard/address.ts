/** Decides which addresses may be dialled, by the lists at the end of this file. */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = { readonly name: string; readonly cidr: [ipaddr.IPv4 | ipaddr.IPv6, number] };

type Ranges = {
  readonly ipv4Denied: readonly Range[];
  readonly ipv6Denied: readonly Range[];
  readonly ipv6Allowed: Range['cidr'];
};

/** Parses the lists on first use, because most threads need none. */
const getRanges = (() => {
  let ranges: Ranges | null = null;
  return (): Ranges => {
    ranges ??= {
      ipv4Denied: toRanges(IPV4_DENIED),
      ipv6Denied: toRanges(IPV6_DENIED),
      ipv6Allowed: ipaddr.parseCIDR(IPV6_ALLOWED),
    };
    return ranges;
  };
})();

/** True for an address that must not be dialled, and for a text that is not an IP literal. */
export function isBlockedAddress(ip: string): boolean {
  return findBlockReason(ip) !== null;
}

/**
 * Returns the name of the block that contains the address, or null for a public address. Accepts the literals
 * of `net.isIP` without a zone. For any other text, it returns what is wrong with the text.
 */
export function findBlockReason(ip: string): string | null {
  if (isIP(ip) === 0) return 'not an IP address';
  if (ip.includes('%')) return 'IPv6 address with a zone';
  // `ipaddr.process` would accept ::ffff:8.8.8.8 as 8.8.8.8, although no honest AAAA record has such an address.
  const address = ipaddr.parse(ip);
  const { ipv4Denied, ipv6Denied, ipv6Allowed } = getRanges();
  const denied = address.kind() === 'ipv4' ? ipv4Denied : ipv6Denied;
  const range = denied.find(({ cidr }) => address.match(cidr));
  if (range) return range.name;
  if (address.kind() === 'ipv6' && !address.match(ipv6Allowed)) {
    return 'not global unicast (outside 2000::/3)';
  }
  return null;
}

/** Compares two spellings of an address. False if one of them is not an IP literal. */
export function isSameAddress(a: string, b: string): boolean {
  if (isIP(a) === 0 || isIP(b) === 0) return false;
  return ipaddr.parse(a).toNormalizedString() === ipaddr.parse(b).toNormalizedString();
}

function toRanges(blocks: Blocks): readonly Range[] {
  return Object.entries(blocks).map(([cidr, name]) => ({ name, cidr: ipaddr.parseCIDR(cidr) }));
}

/** Names of address blocks, by CIDR. */
type Blocks = Readonly<Record<string, string>>;

/**
 * Addresses that the scanner never connects to, here and in `IPV6_DENIED`. Source: the IANA IPv4 and IPv6
 * special-purpose address registries (as embedded in letsencrypt/boulder iana/data, 2026-08-07), the multicast
 * registries, and the RFCs named. The lists are our own, because no classifier on npm is complete.
 */
const IPV4_DENIED: Blocks = {
  '0.0.0.0/8': '"This network" (RFC791 3.2)',
  '10.0.0.0/8': 'Private-Use (RFC1918)',
  '100.64.0.0/10': 'Shared Address Space / CGNAT (RFC6598); holds 100.100.100.200 Alibaba metadata',
  '127.0.0.0/8': 'Loopback (RFC1122)',
  '169.254.0.0/16': 'Link-Local (RFC3927); cloud metadata',
  '172.16.0.0/12': 'Private-Use (RFC1918)',
  '192.0.0.0/24':
    'IETF Protocol Assignments (RFC6890) incl. /29 RFC7335, .8 RFC7600, .9 RFC7723, .10 RFC8155, .170-.171 RFC7050/8880, .192 Clients metadata',
  '192.0.2.0/24': 'TEST-NET-1 (RFC5737)',
  '192.31.196.0/24': 'AS112-v4 (RFC7535): globally reachable anycast DNS sink',
  '192.52.193.0/24': 'AMT (RFC7450)',
  '192.88.99.0/24': 'Deprecated 6to4 relay anycast (RFC7526), incl. 192.88.99.2 6a44 (RFC6751)',
  '192.168.0.0/16': 'Private-Use (RFC1918)',
  '192.175.48.0/24': 'Direct Delegation AS112 (RFC7534)',
  '198.18.0.0/15': 'Benchmarking (RFC2544)',
  '198.51.100.0/24': 'TEST-NET-2 (RFC5737)',
  '203.0.113.0/24': 'TEST-NET-3 (RFC5737)',
  '224.0.0.0/4': 'Multicast (RFC5771); NOT in the special-purpose registry',
  '240.0.0.0/4': 'Reserved / class E (RFC1112 4)',
  '255.255.255.255/32': 'Limited Broadcast (RFC919, RFC8190)',
  '168.63.129.16/32': 'Azure WireServer: a PUBLIC unicast address that only answers inside Azure',
};

/** Global unicast, the only IPv6 range assigned to hosts. */
const IPV6_ALLOWED = '2000::/3';

/** Blocks outside 2000::/3 are listed as well, so that refusals name them. */
const IPV6_DENIED: Blocks = {
  '::/128': 'Unspecified (RFC4291)',
  '::1/128': 'Loopback (RFC4291)',
  '::/96': 'IPv4-compatible (RFC4291 2.5.5.1, deprecated); not in the registry',
  '::ffff:0:0/96': 'IPv4-mapped (RFC4291)',
  '::ffff:0:0:0/96': 'IPv4-translated (RFC2765 SIIT)',
  '64:ff9b::/96': 'NAT64 well-known prefix (RFC6052)',
  '64:ff9b:1::/48': 'NAT64 local-use (RFC8215)',
  '100::/64': 'Discard-Only (RFC6666)',
  '100:0:0:1::/64': 'Dummy IPv6 prefix (RFC9780)',
  '2001::/23':
    'IETF Protocol Assignments (RFC2928): covers Teredo 2001::/32 (RFC4380), 2001:1::1-3/128, 2001:2::/48 benchmarking (RFC5180), 2001:3::/32 AMT, 2001:4:112::/48 AS112, 2001:10::/28 ORCHID, 2001:20::/28 ORCHIDv2, 2001:30::/28 DETs',
  '2001:db8::/32': 'Documentation (RFC3849)',
  '2002::/16': '6to4 (RFC3056)',
  '2620:4f:8000::/48': 'Direct Delegation AS112 (RFC7534)',
  '3fff::/20': 'Documentation (RFC9637)',
  '5f00::/16': 'SRv6 SIDs (RFC9602)',
  'fc00::/7': 'Unique-Local (RFC4193); AWS fd00:ec2::254, GCP fd20:ce::254',
  'fe80::/10': 'Link-Local (RFC4291)',
  'fec0::/10': 'Site-Local, deprecated (RFC3879); not in the registry',
  'ff00::/8': 'Multicast (RFC4291); not in the registry',
};
