/** What callers may ask of a scan, and what scans need. */
import type { JsonObject } from '../model/json.ts';
import type { Scanner } from '../scan/scanner.ts';
import type { Store } from '../store/store.ts';
import type { FinishedScan } from './finished-scan.ts';

export type JoinOptions = {
  /** Called with the scan's id once it is known. */
  readonly onScan?: ((scanId: string) => void) | undefined;
  /** True to keep the scan's recording, for `findRecording`. */
  readonly withRecording?: boolean | undefined;
  /**
   * True if nobody pays. Free scans have a limit of their own. They are refused as Saturated while paid
   * scans use half of the paid limit. A paying caller may join a free scan.
   */
  readonly isFree?: boolean | undefined;
};

export type ScanRunOptions = JoinOptions & {
  /** The URL as the caller wrote it; stored and purged with the result. */
  readonly submittedUrl?: string | undefined;
  /**
   * Finds a scan that already finished for this caller, perhaps on another instance. It is called under the
   * lease, so that no instance repeats a scan.
   */
  readonly findEarlierScan?: (() => Promise<FinishedScan | null>) | undefined;
  /**
   * Replaces the service's own scanner. Such a scan is separate: it uses no other caller's result, and no
   * other caller gets its result. It ends as Saturated as soon as somebody pays for a scan of the same host.
   */
  readonly scanner?: Pick<Scanner, 'scan'> | undefined;
};

export type ScanCoordinatorOptions = {
  readonly scanner: Scanner;
  readonly store: Store;
  /** Facts that are stored with every published scan, such as the name of the scoring. */
  readonly catalogFacts: JsonObject;
  readonly maxScans?: number | undefined;
  /** Called once a scan is published. */
  readonly onPublished?: ((host: string) => void) | undefined;
  /** Called with errors of scans, because every caller may have left by then. */
  readonly onError?: ((error: unknown) => void) | undefined;
};
