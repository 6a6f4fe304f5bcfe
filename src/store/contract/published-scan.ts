import type { JsonObject } from '../../model/json.ts';
import type { PayableState } from '../../model/payability.ts';
import type { Grade, SubScores } from '../../model/report.ts';
import type { Branding, Signals } from '../../model/scan-outcome.ts';

export type CheckCounts = {
  readonly pass: number;
  readonly warn: number;
  readonly fail: number;
};

/** The public part of a paid scan, which stays after its per-check results were purged. */
export type PublishedScan = {
  readonly scanId: string;
  /** Canonical host. */
  readonly host: string;
  /** Database time, ms. */
  readonly scannedAtMs: number;
  readonly grade: Grade;
  /** Integer, 0 to 100. */
  readonly score: number;
  readonly counts: CheckCounts;
  readonly subScores: SubScores;
  readonly checksVersion: string;
  /** Further facts of the catalog that judged it, such as the name of the scoring. */
  readonly catalog: JsonObject;
  readonly branding: Branding;
  readonly signals: Signals;
  /** False when no request to the origin was answered. A host is listed after its first scan that reached it. */
  readonly reached?: boolean | undefined;
  /** Kept in the history only; absent in scans that an older release published. */
  readonly payableBy?: PayableState | undefined;
};
