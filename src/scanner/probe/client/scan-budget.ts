import type { Limits } from '../../guard/limits.ts';

/** Counts what one scan has used of its limits, over all origins that its redirects lead to. */
export class ScanBudget {
  requests = 0;
  bytes = 0;
  /** Connections that were started, failed ones included. */
  connections = 0;
  /** Connections that were opened. */
  sockets = 0;
  /** Length of the longest sequence of requests that each waited for the previous answer. */
  roundTrips = 0;
  /** Processor time of TLS handshakes, in milliseconds. */
  handshakeMs = 0;
  /** Processor time of TLS records after the handshakes. */
  recordMs = 0;
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get canRequest(): boolean {
    return this.requests < this.#limits.maxRequests;
  }

  get canReceive(): boolean {
    return this.bytes < this.#limits.maxBytes;
  }

  get canConnect(): boolean {
    const { maxConnections, maxTlsMs } = this.#limits;
    return this.connections < maxConnections && this.handshakeMs < maxTlsMs;
  }

  /** Reason to end the open connections; null while the scan is within its limits. */
  get spentReason(): string | null {
    if (this.bytes > this.#limits.maxBytes) return 'the scan has used up its bytes';
    return this.recordMs > this.#limits.maxTlsMs ? 'the scan has used up its time for TLS' : null;
  }
}
