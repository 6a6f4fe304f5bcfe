/** Proxies that no setting names: the headers that they add, and the addresses that they have. */
import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Some proxies add nothing but one of these. */
const FORWARDING =
  /^(?:forwarded|via|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|.*-connecting-ip|true-client-ip|fastly-client-ip|x-original-.*|x-envoy-.*)$/;
/** Ranges of ipaddr.js from which no client across the internet can connect. */
const OWN_NETWORK: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'linkLocal',
  'carrierGradeNat',
]);

/** Whether a header says that the request was passed on; any client can send such a header. */
export function hasForwardingHeader(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => FORWARDING.test(name));
}

export function isLoopback(ip: string): boolean {
  return rangeOf(ip) === 'loopback';
}

/** Whether a peer is on this machine or in its own network, as a proxy in front of us is. */
export function isOwnNetwork(ip: string): boolean {
  return OWN_NETWORK.has(rangeOf(ip));
}

function rangeOf(ip: string): string {
  return ipaddr.isValid(ip) ? ipaddr.process(ip).range() : 'none';
}
