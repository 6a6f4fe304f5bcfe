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

/** Returns true for loopback, unspecified and private addresses, and for names that public DNS does not resolve. */
export function isPrivateHost(hostname: string): boolean {
  const host = toPlainHost(hostname);
  if (isIP(host) !== 0) return isBlockedAddress(host);
  return !host.includes('.') || LOCAL_SUFFIX.test(host);
}

/**
 * Returns true for a host that does not name another seller: a private host, or the placeholder of a template. Beside a
 * seller whose own host is an example name, other example names are hosts like others.
 */
export function isLocalHost(hostname: string, ownHostname = ''): boolean {
  if (isPrivateHost(hostname)) return true;
  if (EXAMPLE_HOST.test(toPlainHost(ownHostname))) return false;
  const host = toPlainHost(hostname);
  return EXAMPLE_HOST.test(host) || host.split('.').some((label) => PLACEHOLDER_LABEL.test(label));
}

function toPlainHost(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
