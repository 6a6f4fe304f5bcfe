import { connect, isIP, type Socket } from 'node:net';
import { type SecureContext, connect as tlsConnect } from 'node:tls';
import { blockedReason, sameAddress } from '../../origin/address.ts';
import { isAllowedException, type Origin, type OriginPolicy } from '../../origin/origin.ts';
import type { Address } from '../../origin/resolve.ts';
import { ProbeFailure } from './failures.ts';

export type DialTarget = Address & { readonly port: number; readonly signal: AbortSignal };

/** Opens a TCP connection to an IP literal; rejects with the error of the socket. */
export type Connector = (target: DialTarget) => Promise<Socket>;

export type GuardedTarget = {
  readonly origin: Origin;
  /** Already checked; checked again here, where the socket is opened. */
  readonly addresses: readonly Address[];
  readonly policy: OriginPolicy;
  readonly connector: Connector;
  /** Only for further roots; without it Node's default set holds, NODE_EXTRA_CA_CERTS included. */
  readonly secureContext: SecureContext | undefined;
  /** Given to an address while others are left. */
  readonly dialTimeoutMs: number;
  readonly signal: AbortSignal;
};

/**
 * A connection to an origin, at one of its checked addresses and nowhere else: the address is
 * dialled as a literal, so no name is resolved again, and the peer of the open socket is compared
 * with it. SNI and certificate name are the origin's host. The next address is tried only where
 * dialling failed, never after a TLS failure.
 */
export async function openGuarded(target: GuardedTarget): Promise<Socket> {
  const { origin, policy, addresses } = target;
  const isException = isAllowedException(origin, policy);
  let lastError: unknown = new ProbeFailure('dns', 'the host has no address');
  for (const [index, address] of addresses.entries()) {
    if (!isException && blockedReason(address.address) !== null) {
      throw new ProbeFailure('refused', 'the egress guard refuses the address');
    }
    try {
      const socket = await dialOne(target, address, index === addresses.length - 1);
      return origin.scheme === 'https' ? await secure(target, socket) : socket;
    } catch (error) {
      if (!(error instanceof DialError)) throw error;
      lastError = error.cause;
    }
  }
  throw lastError;
}

/** No connection to this address, so another one may do. */
class DialError extends Error {}

async function dialOne(target: GuardedTarget, address: Address, isLast: boolean): Promise<Socket> {
  const patience = AbortSignal.timeout(target.dialTimeoutMs);
  const signal = isLast ? target.signal : AbortSignal.any([target.signal, patience]);
  let socket: Socket;
  try {
    socket = await target.connector({ ...address, port: target.origin.port, signal });
  } catch (error) {
    if (target.signal.aborted) throw target.signal.reason;
    const cause =
      patience.aborted && !isLast ? new ProbeFailure('timeout', 'no connection') : error;
    throw new DialError('dialling failed', { cause });
  }
  if (!sameAddress(socket.remoteAddress ?? '', address.address)) {
    socket.destroy();
    throw new ProbeFailure('refused', 'the egress guard: the peer is not the checked address');
  }
  return socket;
}

export const dial: Connector = ({ address, family, port, signal }) => {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host: address, family, port, noDelay: true });
  const abort = () => socket.destroy(new ProbeFailure('timeout', 'no connection in time'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  // Stays: an error between here and the first listener of the HTTP client would be unhandled.
  socket.on('error', reject);
  socket.once('connect', () => {
    signal.removeEventListener('abort', abort);
    resolve(socket);
  });
  return promise;
};

function secure({ origin, secureContext, signal }: GuardedTarget, raw: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = tlsConnect({
    socket: raw,
    // Never dialled, as `socket` is given: Node compares the certificate with it.
    host: origin.hostname,
    // RFC 6066 allows no address in SNI.
    ...(isIP(origin.hostname) === 0 ? { servername: origin.hostname } : {}),
    ALPNProtocols: ['http/1.1'],
    // Said aloud, because NODE_TLS_REJECT_UNAUTHORIZED=0 would change the default.
    rejectUnauthorized: true,
    ...(secureContext ? { secureContext } : {}),
  });
  const abort = () => socket.destroy(new ProbeFailure('timeout', 'no TLS handshake in time'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  socket.on('error', reject);
  socket.once('secureConnect', () => {
    signal.removeEventListener('abort', abort);
    resolve(socket);
  });
  return promise;
}
