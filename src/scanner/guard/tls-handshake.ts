/** Sets up TLS with an origin, and counts what its connections cost. */
import { constants } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import {
  connect,
  createSecureContext,
  DEFAULT_CIPHERS,
  getCACertificates,
  type SecureContext,
} from 'node:tls';
import { ProbeFailure } from './failures.ts';
import type { Limits } from './limits.ts';
import type { Origin } from './origin.ts';
import type { ProcessorTime } from './timers.ts';

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
 * Allows elliptic curves only. With finite-field Diffie-Hellman the server chooses the modulus, and
 * 10,000 bits cost a client most of a second; TLS 1.3 has such groups too.
 */
const EXCLUDED_CIPHERS = ':!kDHE';
const KEY_EXCHANGE_GROUPS = 'X25519:P-256:P-384:P-521';

/** `extraCa` are trusted roots (PEM) besides Node's own and NODE_EXTRA_CA_CERTS. */
export function createOriginContext(extraCa: readonly string[]): SecureContext {
  return createSecureContext({
    ciphers: `${DEFAULT_CIPHERS}${EXCLUDED_CIPHERS}`,
    ecdhCurve: KEY_EXCHANGE_GROUPS,
    // Renegotiation would let a server repeat the handshake on an open connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // `ca` replaces Node's whole set, so it is set only when needed.
    ...(extraCa.length > 0 ? { ca: [...getCACertificates('default'), ...extraCa] } : {}),
  });
}

/**
 * Sets up TLS, and limits what an origin may cost in the handshake. SNI and certificate name are the origin's host.
 * Bytes over the limit never reach TLS. Time over the limit is noticed after it is spent.
 */
export function connectTls(options: HandshakeOptions): Promise<Socket> {
  const { origin, raw, secureContext, limits, meter, processorTime, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  let isEstablished = false;
  let handshakeBytes = 0;
  let handshakeMs = 0;
  const transport = new MeteredTransport({
    raw,
    processorTime,
    accept: (length) => {
      if (!isEstablished) handshakeBytes += length;
      if (handshakeBytes <= limits.maxHandshakeBytes) return true;
      refuse(`the server sent more than ${limits.maxHandshakeBytes} bytes before TLS was set up`);
      return false;
    },
    meter: {
      addBytes: (length) => meter.addBytes(length),
      addProcessorMs: (ms) => {
        meter.addProcessorMs(ms);
        if (isEstablished) return;
        handshakeMs += ms;
        if (handshakeMs > limits.maxHandshakeMs)
          refuse('its TLS handshake takes too long to compute');
      },
    },
  });
  const socket = connect({
    socket: transport,
    // Node compares the certificate with this name and does not connect to it, because `socket` is given.
    host: origin.hostname,
    // RFC 6066 allows no address in SNI.
    ...(isIP(origin.hostname) === 0 ? { servername: origin.hostname } : {}),
    ALPNProtocols: ['http/1.1'],
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 would change the default.
    rejectUnauthorized: true,
    secureContext,
  });
  const refuse = (detail: string) => socket.destroy(new ProbeFailure('tls-other', detail));
  const abort = () => socket.destroy(new ProbeFailure('timeout', 'no TLS handshake in time'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  let isPeerGone = false;
  for (const event of ['end', 'error'] as const) raw.once(event, () => (isPeerGone = true));
  // The listener stays. Without it, an error before the HTTP client adds its own listener would be unhandled.
  socket.on('error', (error) => {
    // Node reports a TLS failure as a disconnection, though the peer is still connected.
    const isTlsFailure =
      !isEstablished && !isPeerGone && 'code' in error && error.code === 'ECONNRESET';
    const detail = 'the server sent bytes that are not a handshake';
    reject(isTlsFailure ? new ProbeFailure('tls-other', detail) : error);
  });
  transport.on('error', (error) => socket.destroy(error));
  socket.once('close', () => transport.destroy());
  socket.once('secureConnect', () => {
    // TLS still processes the last bytes of the handshake. Their time must count as handshake time.
    queueMicrotask(() => {
      if (socket.destroyed) return;
      isEstablished = true;
      signal.removeEventListener('abort', abort);
      resolve(socket);
    });
  });
  return promise;
}

/** Counts what an origin costs on one connection. */
export type Meter = {
  /** Counts bytes from the wire. HTTP has not parsed them yet. */
  addBytes(bytes: number): void;
  /** Counts milliseconds of processor time that TLS used for the origin's bytes. */
  addProcessorMs(ms: number): void;
};

type MeteredTransportOptions = Pick<HandshakeOptions, 'raw' | 'meter' | 'processorTime'> & {
  /** Returns false to refuse bytes, which are then not delivered. */
  readonly accept: (bytes: number) => boolean;
};

/**
 * Passes socket bytes to TLS. TLS would read a socket in native code, where no listener can count. This
 * stream can refuse bytes before they cost anything, and measures the time of each delivery. All TLS work
 * for an origin (key exchange, chain, tickets, records) happens during a delivery.
 */
class MeteredTransport extends Duplex {
  readonly #raw: Socket;
  readonly #meter: Meter;
  readonly #processorTime: ProcessorTime;

  constructor({ raw, meter, processorTime, accept }: MeteredTransportOptions) {
    super({ allowHalfOpen: false });
    this.#raw = raw;
    this.#meter = meter;
    this.#processorTime = processorTime;
    raw.on('data', (chunk: Buffer) => {
      if (!accept(chunk.length)) return;
      if (!this.push(chunk)) raw.pause();
      meter.addBytes(chunk.length);
    });
    raw.once('end', () => this.push(null));
    raw.once('error', (error) => this.destroy(error));
    raw.once('close', () => this.destroy());
    raw.pause();
  }

  override _read(): void {
    this.#raw.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void) {
    this.#raw.write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#raw.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#raw.destroy();
    done(error);
  }

  /** Measures the time of TLS, which handles direct and buffered bytes inside this call. */
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event !== 'data') return super.emit(event, ...values);
    const startMs = this.#processorTime();
    try {
      return super.emit(event, ...values);
    } finally {
      this.#meter.addProcessorMs(this.#processorTime() - startMs);
    }
  }
}

/** Counts the bytes of a socket that HTTP reads itself. */
export function meterPlain(raw: Socket, meter: Meter): Socket {
  let countedBytes = 0;
  // HTTP reads at this event too, so this listener has to be the first.
  raw.prependListener('readable', () => {
    const bytes = raw.bytesRead - countedBytes;
    countedBytes = raw.bytesRead;
    if (bytes > 0) meter.addBytes(bytes);
  });
  return raw;
}
