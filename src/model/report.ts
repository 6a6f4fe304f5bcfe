/** The scan report of interface spec 2.2. Hosts add cache, reportUrl and charged. */
import type { Advice } from './advice.ts';
import type { IndexedRow } from './indexed.ts';
import type { ClientVersion, OtherWay, PayableBy, ResourcePayability } from './payability.ts';
import type { RouteFacts } from './routes.ts';
import type { Basis, Status } from './verdict.ts';

export type Severity = 'critical' | 'major' | 'minor';
export type CategoryKey = 'protocol' | 'docs' | 'directory';
/** Best first. */
export const ALL_GRADES = ['A', 'B', 'C', 'D', 'F'] as const;
export type Grade = (typeof ALL_GRADES)[number];

export type CheckResult = {
  readonly id: string;
  readonly title: string;
  readonly category: CategoryKey;
  readonly severity: Severity;
  readonly status: Status;
  readonly basis: Basis;
  readonly outcome: string;
  readonly evidence: string;
  readonly fix: string;
};

/** Processor time is budgeted apart for the origin's documents and for third parties' answers. */
export type BudgetName = 'origin' | 'standing';

/** Null when no check of the category was determined. */
export type SubScores = {
  readonly protocol: number | null;
  readonly docs: number | null;
  readonly standing: number | null;
};

export type ScanReport = {
  readonly origin: string;
  readonly grade: Grade;
  /** 0 to 100 */
  readonly score: number;
  readonly subScores: SubScores;
  readonly checksVersion: string;
  /** ISO 8601, UTC; the scan's start. */
  readonly scannedAt: string;
  /** One per check, in catalog order. */
  readonly results: readonly CheckResult[];
  /** The official clients' verdicts on each paid resource; null in reports that predate them. */
  readonly payability: readonly ResourcePayability[] | null;
  /** The best of its resources; null when no challenge was seen. */
  readonly payableBy: PayableBy | null;
  /** The clients that were run. */
  readonly clients: readonly ClientVersion[];
  /** Other protocols that sell here; absent in reports that predate them. */
  readonly otherWays?: readonly OtherWay[];
  /** Ungraded findings, in the order of ADVICE_IDS. */
  readonly advice: readonly Advice[];
  /** Paid and free routes; null when they could not be read, absent in reports that predate them. */
  readonly routes?: RouteFacts | null;
  /** Ungraded: the index entries of each paid resource; empty when no index is asked. */
  readonly indexed: readonly IndexedRow[];
  /** Budgets that were spent, so that their checks were not judged; absent when none was. */
  readonly exhausted?: readonly BudgetName[];
};
