import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { findBlockReason, isSameAddress } from './address.ts';
import { NO_OWN_ROUTE, ProbeFailure } from './failures.ts';
import type { Limits } from './limits.ts';
import type { Address } from './name-servers.ts';
import { isAllowedException, type Origin, type OriginPolicy } from './origin.ts';
import { type ProcessorTime, startPatientTimer } from './timers.ts';
import { connectTls, type Meter, meterPlain } from './tls-handshake.ts';

export type DialTarget = Address & { readonly port: number; readonly signal: AbortSignal };

/** Opens a TCP connection to an IP literal. Rejects with the socket's error. */
export type Connector = (target: DialTarget) => Promise<Socket>;

export type GuardedTarget = {
  readonly origin: Origin;
  /** Resolved addresses. Each is checked once more before it is dialled. */
  readonly addresses: readonly Address[];
  readonly policy: OriginPolicy;
  readonly connector: Connector;
  /** Called for TLS origins only. */
  readonly secureContext: () => SecureContext;
  readonly limits: Limits;
  readonly signal: AbortSignal;
  readonly meter: Meter;
  readonly processorTime: ProcessorTime;
  /** Called once an address has accepted the connection. */
  readonly onDialled?: () => void;
  /** If given, TLS starts after this promise. Parallel connections wait for the TLS of the first connection. */
  readonly beforeTls?: Promise<void> | undefined;
};

/**
 * Connects to one of the origin's checked addresses. It dials the IP literal, because a name could resolve to
 * another address this time (DNS rebinding). It then compares the socket's peer with the literal. SNI and
 * certificate name are the origin's host. The next address is tried only if dialling fails, not if TLS fails.
 */
export async function openGuarded(target: GuardedTarget): Promise<Socket> {
  const { origin, policy, addresses } = target;
  const isException = isAllowedException(origin, policy);
  let lastError: unknown = new ProbeFailure('dns', 'the host has no address');
  for (const [index, address] of addresses.entries()) {
    if (!isException && findBlockReason(address.address) !== null) {
      throw new ProbeFailure('refused', 'the egress guard refuses the address');
    }
    try {
      const socket = await dialAddress(target, address, index === addresses.length - 1);
      target.onDialled?.();
      if (origin.scheme === 'http') return meterPlain(socket, target.meter);
      if (target.beforeTls !== undefined) await delayTls(socket, target.beforeTls, target.signal);
      return await connectTls({ ...target, secureContext: target.secureContext(), raw: socket });
    } catch (error) {
      if (!(error instanceof DialError)) throw error;
      lastError = error.cause;
    }
  }
  throw lastError;
}

/** Dialling failed, so the next address may be tried. */
class DialError extends Error {}

async function dialAddress(
  target: GuardedTarget,
  address: Address,
  isLast: boolean,
): Promise<Socket> {
  const dialTimeout = new AbortController();
  // The last address may take the rest of the request's time.
  const timer = isLast
    ? null
    : startPatientTimer(target.limits.dialTimeoutMs, () => dialTimeout.abort());
  const signal = AbortSignal.any([target.signal, dialTimeout.signal]);
  let socket: Socket;
  try {
    socket = await target.connector({ ...address, port: target.origin.port, signal });
  } catch (error) {
    if (target.signal.aborted) throw target.signal.reason;
    const cause = dialTimeout.signal.aborted
      ? new ProbeFailure('timeout', 'no connection')
      : await markNoRoute(error, address);
    throw new DialError('dialling failed', { cause });
  } finally {
    timer?.cancel();
  }
  if (!isSameAddress(socket.remoteAddress ?? '', address.address)) {
    socket.destroy();
    throw new ProbeFailure('refused', 'the egress guard: the peer is not the checked address');
  }
  return socket;
}

/**
 * Returns an error with the code NO_OWN_ROUTE if this machine has no route to the address, otherwise `error`. Routers
 * that refuse an address cause ENETUNREACH too, so only the table of routes tells whose fault it is.
 */
async function markNoRoute(error: unknown, { address, family }: Address): Promise<unknown> {
  const isUnreachable = error instanceof Error && 'code' in error && error.code === 'ENETUNREACH';
  if (!isUnreachable) return error;
  // Connecting a UDP socket looks the route up, and sends no packet. The port may be any.
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('error', () => resolve(false));
  socket.once('connect', () => resolve(true));
  socket.connect(1, address);
  const hasRoute = await promise;
  socket.close();
  return hasRoute ? error : Object.assign(new Error('no route'), { code: NO_OWN_ROUTE });
}

async function delayTls(socket: Socket, until: Promise<void>, signal: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([until, ended.promise]);
    if (socket.destroyed) throw new ProbeFailure('reset', 'the connection closed before TLS');
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

export const dial: Connector = ({ address, family, port, signal }) => {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host: address, family, port, noDelay: true });
  const abort = () => socket.destroy(new ProbeFailure('timeout', 'no connection in time'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  // The listener stays. Without it, an error before the HTTP client adds its own listener would be unhandled.
  socket.on('error', reject);
  socket.once('connect', () => {
    signal.removeEventListener('abort', abort);
    resolve(socket);
  });
  return promise;
};
