import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import ipaddr from 'ipaddr.js';

/** Names of the headers that proxies add. All are listed, because some proxies add only one of them. */
const FORWARDING_HEADER =
  /^(?:forwarded|via|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|.*-connecting-ip|true-client-ip|fastly-client-ip|x-original-.*|x-envoy-.*)$/;
/** Address ranges of private networks, by ipaddr.js's names. No client on the internet has such an address. */
const OWN_NETWORK_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'linkLocal',
  'carrierGradeNat',
]);

/** True if the request has a header that proxies add. Any client can send such a header, too. */
export function hasForwardingHeader(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => FORWARDING_HEADER.test(name));
}

export function isLoopback(ip: string): boolean {
  return findRange(ip) === 'loopback';
}

/** True for loopback and private addresses: a proxy in front of this service has such an address. */
export function isOwnNetwork(ip: string): boolean {
  return OWN_NETWORK_RANGES.has(findRange(ip));
}

function findRange(ip: string): string {
  return ipaddr.isValid(ip) ? ipaddr.process(ip).range() : 'none';
}

/** The signal aborts when the client disconnects before the answer was written. */
export function createDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnect = new AbortController();
  const onClose = () => {
    if (!raw.writableFinished) disconnect.abort();
  };
  raw.once('close', onClose);
  // The socket may have closed while the body was read.
  if (raw.destroyed || raw.socket?.destroyed) onClose();
  return disconnect.signal;
}
