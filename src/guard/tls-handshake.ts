/** TLS with an origin, whose side of the handshake may cost a bounded number of bytes and little time. */
import { constants } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import {
  connect,
  createSecureContext,
  DEFAULT_CIPHERS,
  getCACertificates,
  type SecureContext,
} from 'node:tls';
import { ProbeFailure } from './failures.ts';
import type { Limits } from './limits.ts';
import { type Meter, MeteredTransport } from './metered-transport.ts';
import type { Origin } from './origin.ts';
import type { ProcessorTime } from './processor-time.ts';

export type HandshakeOptions = {
  readonly origin: Pick<Origin, 'hostname'>;
  /** A connection to the checked address. */
  readonly raw: Socket;
  readonly secureContext: SecureContext;
  readonly limits: Pick<Limits, 'maxHandshakeBytes' | 'maxHandshakeMs'>;
  readonly meter: Meter;
  readonly processorTime: ProcessorTime;
  readonly signal: AbortSignal;
};

/**
 * Elliptic curves alone. With finite-field Diffie-Hellman the server chooses the modulus, and one of
 * 10,000 bits costs a client most of a second; TLS 1.3 knows such groups too, by name.
 */
const WITHOUT_FINITE_FIELDS = ':!kDHE';
const GROUPS = 'X25519:P-256:P-384:P-521';

/** `extraCa`: further trusted roots, PEM, beside Node's own and those of NODE_EXTRA_CA_CERTS. */
export function originSecureContext(extraCa: readonly string[]): SecureContext {
  return createSecureContext({
    ciphers: `${DEFAULT_CIPHERS}${WITHOUT_FINITE_FIELDS}`,
    ecdhCurve: GROUPS,
    // A server could ask for one handshake after the other on a connection that is open.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // A `ca` of our own replaces Node's whole set: none is given without need.
    ...(extraCa.length > 0 ? { ca: [...getCACertificates('default'), ...extraCa] } : {}),
  });
}

/**
 * SNI and certificate name are the origin's host. Bytes over the limit reach TLS never; time is
 * known once it is spent, and ends the handshake then.
 */
export function shakeHands(options: HandshakeOptions): Promise<Socket> {
  const { origin, raw, secureContext, limits, meter, processorTime, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  let isDone = false;
  let bytes = 0;
  let spentMs = 0;
  const transport = new MeteredTransport({
    raw,
    processorTime,
    admit: (length) => {
      if (!isDone) bytes += length;
      if (bytes <= limits.maxHandshakeBytes) return true;
      refuse(`the server sent more than ${limits.maxHandshakeBytes} bytes before TLS was set up`);
      return false;
    },
    meter: {
      received: (length) => meter.received(length),
      spent: (ms) => {
        meter.spent(ms);
        if (isDone) return;
        spentMs += ms;
        if (spentMs > limits.maxHandshakeMs) refuse('its TLS handshake takes too long to compute');
      },
    },
  });
  const socket = connect({
    socket: transport,
    // Never dialled, as `socket` is given: Node compares the certificate with it.
    host: origin.hostname,
    // RFC 6066 allows no address in SNI.
    ...(isIP(origin.hostname) === 0 ? { servername: origin.hostname } : {}),
    ALPNProtocols: ['http/1.1'],
    // Said aloud, because NODE_TLS_REJECT_UNAUTHORIZED=0 would change the default.
    rejectUnauthorized: true,
    secureContext,
  });
  const refuse = (detail: string) => socket.destroy(new ProbeFailure('tls-other', detail));
  const abort = () => socket.destroy(new ProbeFailure('timeout', 'no TLS handshake in time'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  let isPeerGone = false;
  for (const event of ['end', 'error'] as const) raw.once(event, () => (isPeerGone = true));
  // Stays: an error between here and the first listener of the HTTP client would be unhandled.
  socket.on('error', (error) => {
    // TLS gave up on what it read, and Node calls that a disconnection, though the server is there.
    const gaveUp = !isDone && !isPeerGone && 'code' in error && error.code === 'ECONNRESET';
    reject(gaveUp ? new ProbeFailure('tls-other', 'the server sent what is no handshake') : error);
  });
  transport.on('error', (error) => socket.destroy(error));
  socket.once('close', () => transport.destroy());
  socket.once('secureConnect', () => {
    // TLS is still in the middle of the bytes that completed it; their time is not counted yet.
    queueMicrotask(() => {
      if (socket.destroyed) return;
      isDone = true;
      signal.removeEventListener('abort', abort);
      resolve(socket);
    });
  });
  return promise;
}
