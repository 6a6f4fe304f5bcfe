/** Tells hosts of the public internet from hosts that only mean "here": machines of the reader, and placeholders. */
import { isIP } from 'node:net';
import { isBlockedAddress } from '../../guard/address.ts';

/** Last labels that no public DNS resolves (RFC 6761, RFC 6762, RFC 8375, and ICANN's .internal). */
const LOCAL_SUFFIX = /\.(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa|cluster)$/;
/** IANA's example names (RFC 2606): "example.com", "api.example.org", "shop.example". */
const EXAMPLE_HOST = /(?:^|\.)example\.[a-z]{2,}$|^[^.]+\.example$/;
/** Labels that templates leave for the seller to fill in: "yourdomain", "api-your-app", "your_host", "changeme". */
const PLACEHOLDER_LABEL =
  /^(?:.*[-_])?your[-_].+$|^your(?:own)?(?:domain|site|web|host|app|api|server|compan|shop|store|service|url|project|name|sub|org|brand|endpoint|seller|business)|^my[-_]?(?:domain|hostname)$|^(?:changeme|change-me|placeholder|replace[-_]?me|todo|domain|subdomain|hostname)$/;

/**
 * Returns true for a host that does not name another seller: loopback, unspecified and private addresses, names of one
 * label, and the placeholders of templates. `ownHostname` is a real host, whatever its form, and so are its neighbours.
 */
export function isLocalHost(hostname: string, ownHostname?: string): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (isIP(host) !== 0) return isBlockedAddress(host);
  if (!host.includes('.') || LOCAL_SUFFIX.test(host)) return true;
  const isExampleSeller = ownHostname !== undefined && EXAMPLE_HOST.test(ownHostname);
  if (isExampleSeller) return false;
  return EXAMPLE_HOST.test(host) || host.split('.').some((label) => PLACEHOLDER_LABEL.test(label));
}
