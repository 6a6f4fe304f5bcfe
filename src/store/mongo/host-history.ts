/** The history of one host, followed by number. */
import type { PublishedScan } from '../contract/published-scan.ts';
import { publishedScanFromJson } from '../shared/published-scan.ts';
import type { MongoContext } from './context.ts';
import type { HistoryDocument } from './documents.ts';
import { idOf } from './table.ts';

/**
 * The history of one host as far as this reader has followed it. Rows are numbered without gaps and
 * never change, so following means asking for the next number until it is not there.
 */
export class HostHistory {
  readonly #host: string;
  readonly #history: MongoContext['history'];
  /** The number of the last row that was followed; 0 before the first. */
  seq = 0;
  /** The smallest scan time of all rows up to `seq`. */
  firstSeenAtMs = Number.POSITIVE_INFINITY;
  /** The scan with the greatest time of all rows up to `seq`. */
  newest: PublishedScan | null = null;

  private constructor(host: string, history: MongoContext['history']) {
    this.#host = host;
    this.#history = history;
  }

  /** Starts from the host's record, which sums up all rows to its scan count, and catches up. */
  static async follow({ history, records }: MongoContext, host: string): Promise<HostHistory> {
    const follower = new HostHistory(host, history);
    const record = await records.byId(host);
    if (record) {
      follower.seq = record.scanCount;
      follower.firstSeenAtMs = record.firstSeenAtMs;
      follower.newest = publishedScanFromJson(record.scan);
    }
    await follower.catchUp();
    return follower;
  }

  /** Whether there were rows that had not been followed. */
  async catchUp(): Promise<boolean> {
    const before = this.seq;
    for (;;) {
      const next = await this.#history.byId(idOf(this.#host, this.seq + 1));
      if (!next) return this.seq > before;
      this.#add(next);
    }
  }

  #add({ seq, firstSeenAtMs, scan }: HistoryDocument): void {
    this.seq = seq;
    this.firstSeenAtMs = Math.min(this.firstSeenAtMs, firstSeenAtMs);
    const added = publishedScanFromJson(scan);
    if (!this.newest || isNewer(added, this.newest)) this.newest = added;
  }
}

/** Sorts by time, and by id where two scans ended in one millisecond: every instance must say the same. */
function isNewer(a: PublishedScan, b: PublishedScan): boolean {
  if (a.scannedAtMs !== b.scannedAtMs) return a.scannedAtMs > b.scannedAtMs;
  return a.scanId > b.scanId;
}
