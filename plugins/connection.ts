import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import ipaddr from 'ipaddr.js';

/** Each proxy adds at least one of these headers; some add only one. */
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

/** True if a proxy's header is present; any client can send one. */
export function hasForwardingHeader(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => FORWARDING.test(name));
}

export function isLoopback(ip: string): boolean {
  return rangeOf(ip) === 'loopback';
}

/** True for loopback and private addresses, which a proxy in front of us has. */
export function isOwnNetwork(ip: string): boolean {
  return OWN_NETWORK.has(rangeOf(ip));
}

function rangeOf(ip: string): string {
  return ipaddr.isValid(ip) ? ipaddr.process(ip).range() : 'none';
}

/** Aborts when the client disconnects before its answer was written. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnect = new AbortController();
  const onClose = () => {
    if (!raw.writableFinished) disconnect.abort();
  };
  raw.once('close', onClose);
  // The socket may have closed while the body was read.
  if (raw.destroyed || raw.socket?.destroyed) onClose();
  return disconnect.signal;
}
