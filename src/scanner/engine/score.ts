/**
 * scoring@1 uses integers only, so that any reader can recompute a score from results and catalog. A
 * changed scoring gets a new name, and this scoring stays as it is.
 */

import type { OfferPayability, PayableBy } from '../model/payability.ts';
import type {
  CategoryKey,
  CheckResult,
  Grade,
  ScanReport,
  Severity,
  SubScores,
} from '../model/report.ts';
import type { Basis, Status } from '../model/verdict.ts';
import { findSchemeRow } from '../parse/x402/schemes.ts';

export type Scored = Pick<CheckResult, 'id' | 'category' | 'severity' | 'status' | 'basis'>;
export type Score = {
  readonly score: number;
  readonly grade: Grade;
  readonly subScores: SubScores;
};
/** Facts of a report that cap its score, beside its results. */
export type BuyerFacts = {
  /** Null if no challenge was seen, or no client ran. */
  readonly payableBy: PayableBy | null;
  /** True if nobody could be judged to be paid (`isUnjudged` of the report). */
  readonly isUnjudged?: boolean;
};
export type Scoring = (results: readonly Scored[], payment?: BuyerFacts | null) => Score;

export const POINTS: Readonly<Record<Severity, number>> = { critical: 20, major: 10, minor: 4 };
/** Number of half points that each status earns per point. */
export const EARNED_HALVES: Readonly<Record<Status, number>> = { pass: 2, warn: 1, fail: 0 };
export const WEIGHTS: Readonly<Record<CategoryKey, number>> = {
  protocol: 50,
  docs: 40,
  directory: 10,
};
/** Grades with their lowest scores, best first. F is below all of these scores. */
export const GRADES = [
  ['A', 90],
  ['B', 80],
  ['C', 65],
  ['D', 50],
] as const satisfies readonly (readonly [Grade, number])[];

/** Highest score that each severe finding allows. */
export const CAP_POINTS = {
  unreachable: 0,
  criticalFail: 49,
  unpayable: 49,
  unjudged: 64,
  flawed: 89,
} as const;

type Cap = Partial<Pick<Scored, 'id' | 'category' | 'severity' | 'status'>> & {
  readonly atMost: number;
};

/** A row caps the score if one result has all values of the row. */
const CAPS: readonly Cap[] = [
  // An unreachable origin scores 0, whatever else was observed.
  { id: 'P1', status: 'fail', atMost: CAP_POINTS.unreachable },
  { severity: 'critical', status: 'fail', atMost: CAP_POINTS.criticalFail },
  { severity: 'critical', status: 'warn', atMost: CAP_POINTS.flawed },
  { category: 'protocol', severity: 'major', status: 'fail', atMost: CAP_POINTS.flawed },
];
/** A check that was not determined never lowers the score. */
const CAPPING_BASES: readonly Basis[] = ['measured', 'not_evaluated'];

export const scoreResults: Scoring = (results, payment) => {
  const subScores: SubScores = {
    protocol: computeSubScore(results, 'protocol'),
    docs: computeSubScore(results, 'docs'),
    standing: computeSubScore(results, 'directory'),
  };
  const payabilityCap = findPayabilityCap(payment);
  const score = Math.min(computeWeightedMean(subScores), payabilityCap, ...findCaps(results));
  return { score, grade: toGrade(score), subScores };
};

/** If no client can pay, or if it is not known, passed checks are worth little to a buyer. */
function findPayabilityCap(payment: BuyerFacts | null | undefined): number {
  if (payment?.payableBy === 'nobody') return CAP_POINTS.unpayable;
  return payment?.isUnjudged === true ? CAP_POINTS.unjudged : 100;
}

/** Scorings by the name in the catalog. */
export const SCORINGS = { 'scoring@1': scoreResults } as const satisfies Record<string, Scoring>;
export type ScoringName = keyof typeof SCORINGS;

/** Converts a score from 0 to 100. */
export function toGrade(score: number): Grade {
  return GRADES.find(([, from]) => score >= from)?.[0] ?? 'F';
}

function computeSubScore(results: readonly Scored[], category: CategoryKey): number | null {
  let earnedHalves = 0;
  let possiblePoints = 0;
  for (const { category: own, severity, status, basis } of results) {
    if (own !== category || basis === 'not_determined') continue;
    possiblePoints += POINTS[severity];
    earnedHalves += POINTS[severity] * EARNED_HALVES[status];
  }
  return possiblePoints === 0 ? null : Math.floor((100 * earnedHalves) / (2 * possiblePoints));
}

function computeWeightedMean({ protocol, docs, standing }: SubScores): number {
  const parts = [
    { subScore: protocol, weight: WEIGHTS.protocol },
    { subScore: docs, weight: WEIGHTS.docs },
    { subScore: standing, weight: WEIGHTS.directory },
  ];
  let [weightedSum, weightSum] = [0, 0];
  for (const { subScore, weight } of parts) {
    if (subScore === null) continue;
    weightedSum += weight * subScore;
    weightSum += weight;
  }
  return weightSum === 0 ? 0 : Math.floor(weightedSum / weightSum);
}

export function isCapping(result: Scored): boolean {
  return CAPS.some((cap) => isCapMatch(result, cap));
}

function findCaps(results: readonly Scored[]): readonly number[] {
  const caps = CAPS.filter((cap) => results.some((result) => isCapMatch(result, cap)));
  return caps.map(({ atMost }) => atMost);
}

function isCapMatch(result: Scored, { id, category, severity, status }: Cap): boolean {
  return (
    CAPPING_BASES.includes(result.basis) &&
    (id === undefined || id === result.id) &&
    (category === undefined || category === result.category) &&
    (severity === undefined || severity === result.severity) &&
    (status === undefined || status === result.status)
  );
}

/** `id` is a check's id, or "payability" for the points that are lost because no client can pay, or none could be judged. */
export type ScoreCost = { readonly id: string; readonly points: number };

const SEVERITY_RANK = { critical: 0, major: 1, minor: 2 } as const;
const STATUS_RANK = { fail: 0, warn: 1, pass: 2 } as const;

/**
 * Returns costs in display order: by severity, failures before warnings. They are whole points that add
 * up to 100 minus the score: "100 − P3 8 − S5 6 = 86". Findings that cap the score share the cap's loss
 * in proportion to their own points. Other findings cost the same with and without a cap, so that equal
 * findings cost equal points.
 */
export function listScoreCosts(
  results: readonly Scored[],
  scoring: Scoring,
  payment: BuyerFacts | null = null,
): readonly ScoreCost[] {
  const computeScore = (scored: readonly Scored[]) => scoring(scored, null).score;
  const findings = results
    .filter(({ status, basis }) => status !== 'pass' && basis !== 'not_determined')
    .sort(
      (one, other) =>
        SEVERITY_RANK[one.severity] - SEVERITY_RANK[other.severity] ||
        STATUS_RANK[one.status] - STATUS_RANK[other.status],
    );
  const cappingFindings = findings.filter(isCapping);
  const otherFindings = findings.filter((finding) => !isCapping(finding));
  const uncappedScore = computeScore(
    results.map((result) => (isCapping(result) ? toPassed(result) : result)),
  );
  const computeShare = (finding: Scored) => computeLossShare(finding, results);
  const points = new Map([
    ...distributePoints(100 - uncappedScore, otherFindings, computeShare),
    ...distributePoints(uncappedScore - computeScore(results), cappingFindings, computeShare),
  ]);
  const payabilityLoss = computeScore(results) - scoring(results, payment).score;
  return [
    ...findings.map((finding) => ({ id: finding.id, points: points.get(finding) ?? 0 })),
    ...(payabilityLoss > 0 ? [{ id: 'payability', points: payabilityLoss }] : []),
  ];
}

function toPassed(result: Scored): Scored {
  return { ...result, status: 'pass', basis: 'measured' };
}

/** Returns the loss in the weighted mean before rounding, which can be compared across categories. */
function computeLossShare(
  { category, severity, status }: Scored,
  results: readonly Scored[],
): number {
  const possiblePoints = results
    .filter((result) => result.category === category && result.basis !== 'not_determined')
    .reduce((sum, result) => sum + POINTS[result.severity], 0);
  return (WEIGHTS[category] * POINTS[severity] * (2 - EARNED_HALVES[status])) / possiblePoints;
}

/** Distributes whole points by the largest remainder method. */
function distributePoints(
  total: number,
  findings: readonly Scored[],
  computeShare: (finding: Scored) => number,
): ReadonlyMap<Scored, number> {
  const sum = findings.reduce((all, finding) => all + computeShare(finding), 0);
  const dues = findings.map((finding) => ({ finding, due: (total * computeShare(finding)) / sum }));
  const points = new Map(dues.map(({ finding, due }) => [finding, Math.floor(due)]));
  const assigned = [...points.values()].reduce((all, whole) => all + whole, 0);
  const byRemainder = dues.toSorted((a, b) => (b.due % 1) - (a.due % 1));
  for (const { finding, due } of byRemainder.slice(0, total - assigned)) {
    points.set(finding, Math.floor(due) + 1);
  }
  return points;
}

type JudgedReport = Pick<ScanReport, 'payability'> & {
  readonly results: readonly Pick<ScanReport['results'][number], 'id' | 'outcome'>[];
};

/** Outcomes of P2 that say that no challenge could be judged. */
const UNSEEN_OUTCOMES: ReadonlySet<string> = new Set(['rate-limited', 'unread']);

/** True if P2 could not judge a challenge, because answers or documents are not known. */
export function isUnseen({ results }: Pick<JudgedReport, 'results'>): boolean {
  return results.some(({ id, outcome }) => id === 'P2' && UNSEEN_OUTCOMES.has(outcome));
}

/**
 * True if no challenge was judged, or if every offer is paid by another transfer method, or has a scheme or network
 * that this catalog does not know. The score is then capped, and lists of measurements leave the scan out.
 */
export function isUnjudged(report: JudgedReport): boolean {
  const offers = report.payability?.flatMap((resource) => resource.offers) ?? [];
  return isUnseen(report) || (offers.length > 0 && offers.every(isUnjudgedOffer));
}

/** A pair of scheme and network without a client, but with a row, is judged by its row, or is known by name. */
function isUnjudgedOffer({ scheme, network, verdict }: OfferPayability): boolean {
  if (verdict !== 'unsupported') return false;
  const row = findSchemeRow(scheme ?? undefined, network ?? undefined);
  return row === null || row.client !== null;
}
