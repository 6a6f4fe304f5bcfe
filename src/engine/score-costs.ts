/** What each finding costs, so that a reader sees a score as a sum: "100 − P3 8 − S5 6 = 86". */
import type { Scored, Scoring } from './score.ts';

export type ScoreCost = { readonly id: string; readonly points: number };

const SEVERITY_RANK = { critical: 0, major: 1, minor: 2 } as const;
const STATUS_RANK = { fail: 0, warn: 1, pass: 2 } as const;

/**
 * In the order in which they are taken off, the gravest first: by severity, failures before
 * warnings. Points are those by which the score falls when this finding joins the ones before it,
 * caps included, so they add up to exactly what is missing from 100.
 */
export function scoreCosts(results: readonly Scored[], scoring: Scoring): readonly ScoreCost[] {
  const findings = results
    .filter(({ status, basis }) => status !== 'pass' && basis !== 'not_determined')
    .sort(
      (one, other) =>
        SEVERITY_RANK[one.severity] - SEVERITY_RANK[other.severity] ||
        STATUS_RANK[one.status] - STATUS_RANK[other.status],
    );
  const counted = new Set<Scored>();
  const scoreNow = () =>
    scoring(
      results.map((result) =>
        result.basis === 'not_determined' || counted.has(result)
          ? result
          : { ...result, status: 'pass', basis: 'measured' },
      ),
    ).score;
  let before = scoreNow();
  return findings.map((finding) => {
    counted.add(finding);
    const after = scoreNow();
    const points = before - after;
    before = after;
    return { id: finding.id, points };
  });
}
