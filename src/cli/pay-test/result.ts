export const TRIALS = {
  T1: 'pays-and-delivers',
  T2: 'own-terms',
  T3: 'obeys-verify',
  T4: 'fails-closed',
  T5: 'obeys-settle',
  T6: 'settle-in-doubt',
  T7: 'replay',
  T8: 'race',
  T9: 'other-resource',
  T10: 'stale',
  T11: 'paths',
  T12: 'bad-headers',
  T13: 'caches',
  T14: 'failed-work',
  T15: 'lists-itself',
  T16: 'says-why',
  T17: 'pending',
  T18: 'keeps-to-itself',
} as const;

export type TrialId = keyof typeof TRIALS;

/** These trials follow T1. Some compare an answer with the paid answer of T1. */
export const ROUTE_TRIALS = [
  ...(['T2', 'T3', 'T5', 'T7', 'T8', 'T9', 'T10', 'T11', 'T12', 'T13'] as const),
  ...(['T15', 'T16', 'T17', 'T18'] as const),
] as const;
export const TRIAL_IDS = Object.keys(TRIALS).filter(isTrialId);

export function isTrialId(text: string): text is TrialId {
  return Object.hasOwn(TRIALS, text);
}

/** Worst first. */
export const TRIAL_STATUSES = ['fail', 'warn', 'not_run', 'pass'] as const;
export type TrialStatus = (typeof TRIAL_STATUSES)[number];

export type TrialFinding = {
  readonly status: TrialStatus;
  /** Text that names the request, the answer, and the calls to the facilitator. */
  readonly evidence: string;
  /** True if the seller delivered for nothing. */
  readonly isGift?: boolean;
  /** Replaces the fix of the trial, if another one fits what was found. */
  readonly fix?: string;
};

/** Returns a failure if the seller delivered without being paid, which is a gift. */
export function failIfFree(isGift: boolean, evidence: string): TrialFinding {
  return { status: isGift ? 'fail' : 'pass', evidence, isGift };
}

/** Takes the worst status, and joins the evidence of all findings. */
export function mergeFindings(findings: readonly TrialFinding[]): TrialFinding {
  return {
    status:
      TRIAL_STATUSES.find((candidate) => findings.some(({ status }) => status === candidate)) ??
      'pass',
    evidence: findings.map(({ evidence }) => evidence).join('; '),
    isGift: findings.some(({ isGift }) => isGift === true),
  };
}

export function notRun(evidence: string): TrialFinding {
  return { status: 'not_run', evidence };
}

const NOT_PAID = 'not paid: ';

/** The finding of each trial on a route that could not be paid. */
export function notPaid(why: string): TrialFinding {
  return notRun(`${NOT_PAID}${why}`);
}

export function isNotPaid({ status, evidence }: Pick<TrialFinding, 'status' | 'evidence'>) {
  return status === 'not_run' && evidence.startsWith(NOT_PAID);
}

export type TrialResult = Required<Pick<TrialFinding, 'status' | 'evidence' | 'fix'>> & {
  readonly id: TrialId;
  readonly title: string;
  /** "GET /weather"; null for T14 without `--failing-route`. */
  readonly route: string | null;
};

export type PayTestReport = {
  readonly target: string;
  readonly facilitator: string;
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  readonly trials: readonly TrialResult[];
  readonly summary: Readonly<Record<TrialStatus, number>> & {
    /** True if every tested route delivered after a good payment. */
    readonly delivers: boolean;
    /** Number of the trials T1 (a route without a guard) to T12 and T17 that failed by a delivery on any route. */
    readonly gifts: number;
    /** Number of the routes on which T1 was judged. */
    readonly tested: number;
  };
};

/** True if the report judges anything. A report of trials that did not run says nothing about the seller. */
export function hasJudgedTrial({ trials }: Pick<PayTestReport, 'trials'>): boolean {
  return trials.some(({ status }) => status !== 'not_run');
}

/** The seller cannot be tested, so there is no verdict. */
export class PayTestImpossible extends Error {
  override readonly name = 'PayTestImpossible';
}
