/** Tells how many points each finding costs, for reports that explain a score. */
import {
  type BuyerFacts,
  EARNED_HALVES,
  isCapping,
  POINTS,
  type Scored,
  type Scoring,
  WEIGHTS,
} from './score.ts';

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
  const possible = results
    .filter((result) => result.category === category && result.basis !== 'not_determined')
    .reduce((sum, result) => sum + POINTS[result.severity], 0);
  return (WEIGHTS[category] * POINTS[severity] * (2 - EARNED_HALVES[status])) / possible;
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
