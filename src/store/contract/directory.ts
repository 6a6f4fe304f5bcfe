import type { Grade } from '../../model/report.ts';
import type { PublishedScan } from './published-scan.ts';

/** One host: its current scan, with the owner's preferences as they are at the time of reading. */
export type DirectoryRecord = PublishedScan & {
  readonly firstSeenAtMs: number;
  /** Published scans of this host ever, also those whose history rows were dropped. */
  readonly scanCount: number;
  /** An owner has proved control of the host at least once. */
  readonly verified: boolean;
  /** The proof expires at this ms; null where the host has no valid proof. */
  readonly verifiedUntilMs: number | null;
  /** False: opted out; must not appear on any listing surface. */
  readonly listed: boolean;
  /** True: branding must not be shown. */
  readonly enrichmentSuppressed: boolean;
};

/** The part of a record that a status needs. */
export type HostGrade = Pick<PublishedScan, 'scannedAtMs' | 'grade' | 'score' | 'counts'>;

export type DirectoryQuery = {
  /** `recent`: newest scan first. `grade`: best grade, then best score, then newest first. */
  readonly sort: 'recent' | 'grade';
  readonly category?: string | undefined;
  /** True: hosts of verified owners only. */
  readonly verified?: boolean | undefined;
  /** Literal substring of the host; case is ignored, no character is special. Empty: no filter. */
  readonly q?: string | undefined;
  readonly grade?: Grade | undefined;
  /** Lower bound of the scan's time. */
  readonly sinceMs?: number | undefined;
  /** From 0. */
  readonly page: number;
  readonly pageSize: number;
};

/**
 * Versions of the rows from which lists of hosts are built. A cached answer is valid while both versions
 * equal those that were read before its rows.
 */
export type DirectoryVersions = {
  /** Changes with each publication, at the latest when `publish` has returned. */
  readonly published: string;
  /** Changes whenever an owner sets or proves something, at the latest when that call has returned. */
  readonly preferences: string;
};

/** The public directory. Opted-out hosts are in no list and no count. */
export type DirectoryStore = {
  /** The record of a host, opted out or not (see `listed`); null if never published. */
  get(host: string): Promise<DirectoryRecord | null>;

  /** The grade of a host's current scan, opted out or not; null if never published. */
  gradeOf(host: string): Promise<HostGrade | null>;

  /** Costs two look-ups by primary key; sees the writes of all instances. */
  versions(): Promise<DirectoryVersions>;

  /** One page, and the number of all matches. */
  list(query: DirectoryQuery): Promise<{
    readonly count: number;
    readonly records: readonly DirectoryRecord[];
  }>;

  /** Number of listed hosts of each grade. */
  grades(): Promise<Readonly<Record<Grade, number>>>;
};
