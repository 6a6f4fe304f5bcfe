import { EXPLANATIONS } from './explanations.ts';
import {
  type PayTestReport,
  TRIAL_IDS,
  TRIALS,
  type TrialFinding,
  type TrialId,
  type TrialResult,
} from './result.ts';

export type RouteFinding = TrialFinding & { readonly id: TrialId; readonly route: string | null };

/** Most runs of a route's handler by each trial. */
const MOST_RUNS: Readonly<Record<TrialId, number>> = {
  ...{ T1: 2, T2: 5, T3: 1, T4: 4, T5: 1, T6: 3, T7: 2, T8: 10, T9: 1, T10: 2, T11: 31, T12: 8 },
  ...{ T13: 0, T14: 1, T15: 0, T16: 1, T17: 2, T18: 3 },
};

export function mostRuns(ids: readonly TrialId[], routes: number, isFailing: boolean): number {
  return ids.reduce((total, id) => {
    const times = id === 'T14' ? Number(isFailing) : id === 'T4' || id === 'T6' ? 1 : routes;
    return total + MOST_RUNS[id] * times;
  }, 0);
}

export type ReportParts = Pick<PayTestReport, 'target' | 'facilitator' | 'routes'> & {
  readonly findings: readonly RouteFinding[];
  readonly isWanted: (id: TrialId) => boolean;
};

/** Leaves out the trials that `--only` does not name; T1 is run all the same. */
export function toPayTestReport(parts: ReportParts): PayTestReport {
  const { target, facilitator, routes, findings, isWanted } = parts;
  const shown = findings
    .filter(({ id }) => isWanted(id))
    .toSorted((one, other) => TRIAL_IDS.indexOf(one.id) - TRIAL_IDS.indexOf(other.id));
  const count = (status: RouteFinding['status']) =>
    shown.filter((one) => one.status === status).length;
  const paid = findings.filter(({ id }) => id === 'T1');
  const gifts = shown.filter(({ status, isGift }) => status === 'fail' && isGift === true);
  return {
    target,
    facilitator,
    routes,
    trials: shown.map(toResult),
    summary: {
      pass: count('pass'),
      warn: count('warn'),
      fail: count('fail'),
      not_run: count('not_run'),
      delivers: paid.some(isDelivered) && paid.every(({ status }) => status !== 'fail'),
      gifts: new Set(gifts.map(({ id }) => id)).size,
    },
  };
}

function isDelivered({ status }: RouteFinding): boolean {
  return status === 'pass' || status === 'warn';
}

function toResult({ id, status, evidence, route }: RouteFinding): TrialResult {
  return { id, title: TRIALS[id], status, evidence, fix: EXPLANATIONS[id].fix, route };
}
