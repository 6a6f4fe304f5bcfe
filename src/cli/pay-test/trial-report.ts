import { EXPLANATIONS } from './explanations.ts';
import {
  notPaid,
  type PayTestReport,
  TRIAL_IDS,
  TRIALS,
  type TrialFinding,
  type TrialId,
  type TrialResult,
} from './result.ts';
import { catchNoChallenge, type NoChallenge, type RouteTester } from './route-tester.ts';

export type RouteFinding = TrialFinding & {
  readonly id: TrialId;
  readonly route: string | null;
};

/** The most runs of a route's handler that each trial may cause. */
const MAX_HANDLER_RUNS: Readonly<Record<TrialId, number>> = {
  ...{ T1: 4, T2: 5, T3: 1, T4: 4, T5: 1, T6: 3, T7: 2, T8: 10, T9: 1, T10: 2, T11: 32, T12: 8 },
  ...{ T13: 0, T14: 1, T15: 0, T16: 1, T17: 2, T18: 3 },
};

/** Sums the handler runs. T14 runs only with a failing route; T4 and T6 run on one route. */
export function countMaxRuns(
  ids: readonly TrialId[],
  routeCount: number,
  hasFailingRoute: boolean,
): number {
  return ids.reduce((total, id) => {
    const testedCount =
      id === 'T14' ? Number(hasFailingRoute) : id === 'T4' || id === 'T6' ? 1 : routeCount;
    return total + MAX_HANDLER_RUNS[id] * testedCount;
  }, 0);
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
  return { id, title: TRIALS[id], status, evidence, fix, route };
}

/** Runs a trial. If the route cannot be paid, returns the finding of a trial that did not run. */
export async function runOrSkip<Finding extends TrialFinding>(
  trial: () => Promise<Finding>,
): Promise<Finding | TrialFinding> {
  return catchNoChallenge(trial, ({ message }) => notPaid(message));
}

/** Finds out why the route cannot be paid. Resolves to null if it can. */
export async function findObstacle(tester: RouteTester): Promise<NoChallenge | null> {
  return catchNoChallenge(
    () => tester.fetchChallenge().then(() => null),
    (obstacle) => obstacle,
  );
}

/** Finds a route with a lower price, preferably in the same asset. */
export async function findCheaperRoute(
  tester: RouteTester,
  testers: readonly RouteTester[],
): Promise<RouteTester | null> {
  const ownPrice = await findPrice(tester);
  if (ownPrice === null) return null;
  const others = await Promise.all(
    testers.map(async (other) => ({ other, price: await findPrice(other) })),
  );
  const cheaper = others.filter(({ price }) => price !== null && price.amount < ownPrice.amount);
  const sameAsset = cheaper.find(({ price }) => price?.asset === ownPrice.asset);
  return (sameAsset ?? cheaper[0])?.other ?? null;
}

async function findPrice(tester: RouteTester): Promise<{ amount: bigint; asset: string } | null> {
  return catchNoChallenge(
    async () => {
      const { network, asset, amount } = (await tester.fetchChallenge()).terms;
      if (!/^\d{1,78}$/.test(amount)) return null;
      return { amount: BigInt(amount), asset: `${network} ${asset.toLowerCase()}` };
    },
    () => null,
  );
}
