import type { JsonObject } from '../../model/json.ts';

export type Grade = 'A' | 'B' | 'C' | 'D' | 'F';

/** Unverified data copied from the origin, already sanitised. */
export interface Branding {
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly iconUrl: string | null;
  readonly ogImageUrl: string | null;
}

export interface Signals {
  readonly registeredIndex: boolean;
  /** Null: not observed, which proves nothing. */
  readonly hasRecentSettlement: true | null;
  readonly indexOwnershipVerified: boolean;
  readonly onEcosystemListing: boolean;
}

export interface CheckCounts {
  readonly pass: number;
  readonly warn: number;
  readonly fail: number;
}

/** Null where nothing of that category was determined. */
export interface SubScores {
  readonly protocol: number | null;
  readonly docs: number | null;
  readonly standing: number | null;
}

/** What a paid scan makes public, and what stays after its per-check results were purged. */
export interface PublishedScan {
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
}
