import { EXPLANATIONS } from './explanations.ts';
import {
  type PayTestReport,
  TRIAL_IDS,
  TRIALS,
  type TrialFinding,
  type TrialId,
  type TrialResult,
} from './result.ts';

export type RouteFinding = TrialFinding & {
  readonly id: TrialId;
  readonly route: string | null;
};

/** Sums the handler runs. T14 runs only with a failing route; T4 and T6 run on one route. */
export function countMaxRuns(
  ids: readonly TrialId[],
  routeCount: number,
  hasFailingRoute: boolean,
): number {
  const counts: Partial<Record<TrialId, number>> = { T4: 1, T6: 1, T14: Number(hasFailingRoute) };
  return ids.reduce((sum, id) => sum + TRIALS[id].maxRuns * (counts[id] ?? routeCount), 0);
}

export type ReportParts = Pick<PayTestReport, 'target' | 'facilitator' | 'routes'> & {
  readonly findings: readonly RouteFinding[];
  readonly isWanted: (id: TrialId) => boolean;
  /** Names of the routes on which the trials that pay could not run. */
  readonly blockedRoutes: ReadonlySet<string>;
};

/**
 * Omits trials that `--only` does not name. T1 always runs. If it blocked the other trials of a route, it is reported,
 * and so is what the seller gave away.
 */
export function toPayTestReport(parts: ReportParts): PayTestReport {
  const { target, facilitator, routes, findings, isWanted, blockedRoutes } = parts;
  const isBlocked = ({ route }: RouteFinding) => route !== null && blockedRoutes.has(route);
  const reportedFindings = findings
    .filter(
      (finding) =>
        isWanted(finding.id) ||
        (isBlocked(finding) && (finding.id === 'T1' || finding.isGift === true)),
    )
    .toSorted((a, b) => TRIAL_IDS.indexOf(a.id) - TRIAL_IDS.indexOf(b.id));
  const countStatus = (status: RouteFinding['status']) =>
    reportedFindings.filter((finding) => finding.status === status).length;
  const firstPayments = findings.filter(({ id, status }) => id === 'T1' && status !== 'not_run');
  const gifts = reportedFindings.filter(
    ({ status, isGift }) => status === 'fail' && isGift === true,
  );
  return {
    target,
    facilitator,
    routes,
    trials: reportedFindings.map(toResult),
    summary: {
      pass: countStatus('pass'),
      warn: countStatus('warn'),
      fail: countStatus('fail'),
      not_run: countStatus('not_run'),
      delivers:
        firstPayments.length > 0 &&
        firstPayments.every((finding) => finding.status !== 'fail' && !isBlocked(finding)),
      gifts: new Set(gifts.map(({ id }) => id)).size,
      tested: firstPayments.length,
    },
  };
}

function toResult({
  id,
  status,
  evidence,
  route,
  fix = EXPLANATIONS[id].fix,
}: RouteFinding): TrialResult {
  return { id, title: TRIALS[id].title, status, evidence, fix, route };
}
