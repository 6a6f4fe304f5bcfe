/** Limits the requests, bytes, connections and handshakes of one scan, and the decoded text of all scans. */

import type { Limits } from '../../guard/limits.ts';
import { MAX_BYTES_PER_CHAR } from '../../parse/json/transfer.ts';

/** Counts what one scan has used, over all origins that its redirects lead to. */
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

/** The part of the text budget that one scan uses. */
export type TextShare = {
  /** Counts characters that the scan keeps from now on. */
  addCharacters(characters: number): void;
  /** Gives back all characters, because the scan keeps no text any more. */
  release(): void;
};

const MAX_TEXT_BYTES = 128 * 1_048_576;

export type TextBudgetOptions = {
  readonly maxBytes?: number;
  /** Called with true when the budget is used up, and with false when there is room again. */
  readonly onChange?: (isSaturated: boolean) => void;
};

/**
 * Limits the decoded text of all scans. The byte cap of each answer is not enough, because a kilobyte may
 * decompress to a megabyte, and a character may take two bytes. Over the budget no new scan may begin, and
 * the scan with the most text stops reading. Its later requests fail with reason `budget`.
 */
export class TextBudget {
  readonly #maxBytes: number;
  readonly #onChange: (isSaturated: boolean) => void;
  readonly #shares = new Map<TextShare, { bytes: number; endReading: (() => void) | null }>();
  #bytes = 0;
  #isSaturated = false;

  constructor({ maxBytes = MAX_TEXT_BYTES, onChange = () => undefined }: TextBudgetOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#onChange = onChange;
  }

  get isSaturated(): boolean {
    return this.#isSaturated;
  }

  /** Opens the share of one scan. `endReading` is called at most once. */
  openShare(endReading: () => void): TextShare {
    const share: TextShare = {
      addCharacters: (characters) => this.#add(share, characters * MAX_BYTES_PER_CHAR),
      release: () => {
        this.#bytes -= this.#shares.get(share)?.bytes ?? 0;
        this.#shares.delete(share);
        this.#reportChange();
      },
    };
    this.#shares.set(share, { bytes: 0, endReading });
    return share;
  }

  #add(share: TextShare, bytes: number): void {
    const entry = this.#shares.get(share);
    if (entry === undefined) return;
    entry.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#endLargest();
    this.#reportChange();
  }

  /** Ends the largest scan that still reads. Ending a scan that has read everything would free no memory. */
  #endLargest(): void {
    const reading = [...this.#shares.values()].filter(({ endReading }) => endReading !== null);
    const [largest] = reading.toSorted((a, b) => b.bytes - a.bytes);
    const end = largest?.endReading;
    if (!largest || !end) return;
    largest.endReading = null;
    end();
  }

  #reportChange(): void {
    const isSaturated = this.#bytes > this.#maxBytes;
    if (isSaturated === this.#isSaturated) return;
    this.#isSaturated = isSaturated;
    this.#onChange(isSaturated);
  }
}
