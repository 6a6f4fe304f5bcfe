import type { PublishedScan } from '../contract/published-scan.ts';
import type { StoreContext } from './context.ts';
import { publishedScanFromJson } from './published-scan.ts';
import type { Row } from './tables.ts';

/**
 * The history of one host as far as this reader has followed it. Rows are numbered without gaps and
 * never change, so following means asking for the next number until it is not there.
 */
export class HostHistory {
  readonly host: string;
  readonly #history: StoreContext['tables']['history'];
  /** The number of the last row that was followed; 0 before the first. */
  seq = 0;
  /** The smallest scan time of all rows up to `seq`. */
  firstSeenAtMs = Number.POSITIVE_INFINITY;
  /** The scan with the greatest time of all rows up to `seq`. */
  newest: PublishedScan | null = null;
  /** True when some scan up to `seq` had an answer of the origin. */
  reached = false;

  private constructor(host: string, history: StoreContext['tables']['history']) {
    this.host = host;
    this.#history = history;
  }

  /** Starts from the host's record, which sums up all rows to its scan count, and catches up. */
  static async follow(
    { tables: { history, records } }: Pick<StoreContext, 'tables'>,
    host: string,
  ): Promise<HostHistory> {
    const follower = new HostHistory(host, history);
    const record = await records.get(host);
    if (record) {
      follower.seq = record.scanCount;
      follower.firstSeenAtMs = record.firstSeenAtMs;
      follower.newest = publishedScanFromJson(record.scan);
      follower.reached = record.reached;
    }
    await follower.catchUp();
    return follower;
  }

  /** True if there were rows that had not been followed. */
  async catchUp(): Promise<boolean> {
    const before = this.seq;
    for (;;) {
      const next = await this.#history.get(this.host, this.seq + 1);
      if (!next) return this.seq > before;
      this.#add(next);
    }
  }

  #add({ seq, scannedAtMs, scan }: Row<'history'>): void {
    this.seq = seq;
    this.firstSeenAtMs = Math.min(this.firstSeenAtMs, scannedAtMs);
    // The scan was dropped from the row because the record has included it for an hour or more.
    if (scan === null) return;
    const added = publishedScanFromJson(scan);
    this.reached ||= added.reached !== false;
    if (!this.newest || isNewer(added, this.newest)) this.newest = added;
  }
}

/** Compares times, then ids, so that all instances agree on two scans of the same millisecond. */
function isNewer(a: PublishedScan, b: PublishedScan): boolean {
  if (a.scannedAtMs !== b.scannedAtMs) return a.scannedAtMs > b.scannedAtMs;
  return a.scanId > b.scanId;
}
