import type { JsonObject } from '../../model/json.ts';

export type ScanResult = {
  /** Random, new for every scan. */
  readonly scanId: string;
  /** Canonical host of the scanned origin. */
  readonly host: string;
  /** Database time, ms; the report's `scannedAt`. */
  readonly scannedAtMs: number;
  /** The URL as it was submitted. */
  readonly submittedUrl: string;
  /** The whole report with its per-check results, at most 8 MiB as JSON. */
  readonly report: JsonObject;
};

export type KeptRecording = {
  /** JSON; null where it is too large to be kept. */
  readonly text: string | null;
};

export type UnpaidMark = {
  readonly scanId: string;
  readonly host: string;
  readonly isDebt: boolean;
  readonly atMs: number;
};

/**
 * Finished scans with their per-check results. A result is private until its scan is published
 * (`Store.publish`), and then is the host's cached report while no newer scan is published.
 * It is purged 24 h after `scannedAtMs`, or once no unfinished ledger key names the scan, whichever is
 * later.
 */
export type ScanResultStore = {
  /** Idempotent by scan id: the first stays. */
  save(result: ScanResult): Promise<void>;

  byScan(scanId: string): Promise<ScanResult | null>;

  /** Keeps the recording of a scan for an hour. Idempotent by scan id: the first stays. */
  keepRecording(scanId: string, recording: KeptRecording): Promise<void>;

  /** Null where none was kept, or it was purged. */
  recording(scanId: string): Promise<KeptRecording | null>;

  /**
   * Finds the newest finished, not yet published result of a host with `scannedAtMs >= sinceMs`. A caller
   * that disconnected, or got 504, may still pay for it.
   */
  waiting(host: string, sinceMs: number): Promise<ScanResult | null>;

  /**
   * The result of the host's current published scan (the one with the greatest `scannedAtMs`), or
   * null when there is none or it was purged. The caller decides how fresh it must be.
   */
  published(host: string): Promise<ScanResult | null>;

  /**
   * Notes that this payer asked for a scan and has not paid for it. Idempotent by payer and scan; a
   * mark that is a debt stays one, and its time is that at which it became one.
   */
  noteUnpaid(mark: {
    readonly payer: string;
    readonly scanId: string;
    readonly host: string;
    /** False while the scan runs, and when our own fault kept the payer from paying. */
    readonly isDebt: boolean;
  }): Promise<void>;

  /** The payer paid for it after all. */
  clearUnpaid(mark: { readonly payer: string; readonly scanId: string }): Promise<void>;

  /** Scans that this payer left unpaid since then, newest first. Kept for 24 h. */
  unpaid(payer: string, sinceMs: number): Promise<readonly UnpaidMark[]>;
};
