import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ProcessorTime } from './timers.ts';

/** Counts what an origin costs on one connection. */
export type Meter = {
  /** Counts bytes from the wire. HTTP parses them on the next tick at the earliest. */
  addBytes(bytes: number): void;
  /** Counts milliseconds of processor time that TLS used for the origin's bytes. */
  addProcessorMs(ms: number): void;
};

export type MeteredTransportOptions = {
  readonly raw: Socket;
  readonly meter: Meter;
  readonly processorTime: ProcessorTime;
  /** Returns false to refuse bytes, which are then not delivered. */
  readonly accept: (bytes: number) => boolean;
};

/**
 * Passes socket bytes to TLS. TLS would read a socket in native code, where no listener can count. This
 * stream can refuse bytes before they cost anything, and measures the time of each delivery. All TLS work
 * for an origin (key exchange, chain, tickets, records) happens during a delivery.
 */
export class MeteredTransport extends Duplex {
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
  raw.prependListener('readable', () => {
    const bytes = raw.bytesRead - countedBytes;
    countedBytes = raw.bytesRead;
    if (bytes > 0) meter.addBytes(bytes);
  });
  return raw;
}
