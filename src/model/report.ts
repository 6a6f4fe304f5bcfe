/** The scan report of interface spec 2.2, as the engine makes it; hosts add cache, reportUrl, charged. */
import type { Advice } from './advice.ts';
import type { IndexedRow } from './indexed.ts';
import type { ClientVersion, PayableBy, ResourcePayability } from './payability.ts';
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

/** What a scan has processor time for: the origin's own documents, and what third parties say. */
export type BudgetName = 'origin' | 'standing';

/** Null where nothing in the category was determined. */
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
  /** ISO 8601, UTC: when the scan began. */
  readonly scannedAt: string;
  /** One per check, in catalog order. */
  readonly results: readonly CheckResult[];
  /** What the official clients say of each paid resource; null in what is older than they are. */
  readonly payability: readonly ResourcePayability[] | null;
  /** The best of its resources; null where no challenge was seen. */
  readonly payableBy: PayableBy | null;
  /** The clients that said it. */
  readonly clients: readonly ClientVersion[];
  /** What no check grades; in the order of its ids. */
  readonly advice: readonly Advice[];
  /** What is sold where; null where it could not be read, absent in reports that are older. */
  readonly routes?: RouteFacts | null;
  /** How indexes list each paid resource, ungraded; empty where none is asked. */
  readonly indexed: readonly IndexedRow[];
  /** Budgets that were used up, so that no check on them was judged; absent where none was. */
  readonly exhausted?: readonly BudgetName[];
};
