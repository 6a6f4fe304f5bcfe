import type { Observations } from './observations.ts';
import type { ScanReport } from './report.ts';

/** Unverified text and links of the origin: cleaned, cut, never instructions. */
export type Branding = {
  readonly displayName: string;
  readonly description: string;
  /** One of the directory's categories; "other" when the origin declares none of them. */
  readonly category: string;
  readonly iconUrl: string | null;
  readonly ogImageUrl: string | null;
};

/** Interface spec 2.3; `hasRecentSettlement` is true or null, never false. */
export type Signals = {
  readonly registeredIndex: boolean;
  readonly hasRecentSettlement: true | null;
  readonly indexOwnershipVerified: boolean;
  readonly onEcosystemListing: boolean;
};

export type ScanTiming = {
  readonly gatherMs: number;
  readonly judgeMs: number;
  readonly totalMs: number;
  readonly requests: number;
  /** Depth of dependent round trips, not their number. */
  readonly roundTrips: number;
};

export type ScanOutcome = {
  readonly report: ScanReport;
  readonly branding: Branding;
  readonly signals: Signals;
  readonly timing: ScanTiming;
  readonly observations: Observations;
};
