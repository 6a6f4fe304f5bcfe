import type { PayableBy } from '../model/payability.ts';
import { EARNED_HALVES, isCapping, POINTS, type Scored, type Scoring, WEIGHTS } from './score.ts';

/** `id` of a check; "payability" for the cap where no client can pay. */
export type ScoreCost = { readonly id: string; readonly points: number };

const SEVERITY_RANK = { critical: 0, major: 1, minor: 2 } as const;
const STATUS_RANK = { fail: 0, warn: 1, pass: 2 } as const;

/**
 * Returns costs in display order: by severity, failures before warnings. They are whole points that add
 * up to 100 minus the score: "100 − P3 8 − S5 6 = 86". Findings that cap the score share the cap's loss
 * in proportion to their own points; the others cost the same with and without a cap, so that equal
 * findings cost equal points.
 */
export function scoreCosts(
  results: readonly Scored[],
  scoring: Scoring,
  payableBy: PayableBy | null = null,
): readonly ScoreCost[] {
  const scoreOf = (some: readonly Scored[]) => scoring(some, null).score;
  const findings = results
    .filter(({ status, basis }) => status !== 'pass' && basis !== 'not_determined')
    .sort(
      (one, other) =>
        SEVERITY_RANK[one.severity] - SEVERITY_RANK[other.severity] ||
        STATUS_RANK[one.status] - STATUS_RANK[other.status],
    );
  const capping = findings.filter(isCapping);
  const others = findings.filter((finding) => !isCapping(finding));
  const uncapped = scoreOf(results.map((one) => (capping.includes(one) ? passed(one) : one)));
  const shareOf = (finding: Scored) => shareOfLoss(finding, results);
  const points = new Map([
    ...distributed(100 - uncapped, others, shareOf),
    ...distributed(uncapped - scoreOf(results), capping, shareOf),
  ]);
  const unpayable = scoreOf(results) - scoring(results, payableBy).score;
  return [
    ...findings.map((finding) => ({ id: finding.id, points: points.get(finding) ?? 0 })),
    ...(unpayable > 0 ? [{ id: 'payability', points: unpayable }] : []),
  ];
}

function passed(result: Scored): Scored {
  return { ...result, status: 'pass', basis: 'measured' };
}

/** Loss in the weighted mean before rounding; comparable across categories. */
function shareOfLoss({ category, severity, status }: Scored, results: readonly Scored[]): number {
  const possible = results
    .filter((one) => one.category === category && one.basis !== 'not_determined')
    .reduce((sum, one) => sum + POINTS[one.severity], 0);
  return (WEIGHTS[category] * POINTS[severity] * (2 - EARNED_HALVES[status])) / possible;
}

/** Rounds to whole points by the largest remainder method. */
function distributed(
  total: number,
  findings: readonly Scored[],
  shareOf: (finding: Scored) => number,
): ReadonlyMap<Scored, number> {
  const sum = findings.reduce((all, finding) => all + shareOf(finding), 0);
  const exact = findings.map((finding) => ({ finding, due: (total * shareOf(finding)) / sum }));
  const points = new Map(exact.map(({ finding, due }) => [finding, Math.floor(due)]));
  const given = [...points.values()].reduce((all, one) => all + one, 0);
  const byRemainder = exact.toSorted((a, b) => (b.due % 1) - (a.due % 1));
  for (const { finding, due } of byRemainder.slice(0, total - given)) {
    points.set(finding, Math.floor(due) + 1);
  }
  return points;
}
