/** `maxRuns` is how often the trial may run the handler of a route. */
export const TRIALS = {
  T1: { title: 'pays-and-delivers', maxRuns: 4 },
  T2: { title: 'own-terms', maxRuns: 5 },
  T3: { title: 'obeys-verify', maxRuns: 1 },
  T4: { title: 'fails-closed', maxRuns: 4 },
  T5: { title: 'obeys-settle', maxRuns: 1 },
  T6: { title: 'settle-in-doubt', maxRuns: 3 },
  T7: { title: 'replay', maxRuns: 2 },
  T8: { title: 'race', maxRuns: 10 },
  T9: { title: 'other-resource', maxRuns: 1 },
  T10: { title: 'stale', maxRuns: 2 },
  T11: { title: 'paths', maxRuns: 32 },
  T12: { title: 'bad-headers', maxRuns: 8 },
  T13: { title: 'caches', maxRuns: 0 },
  T14: { title: 'failed-work', maxRuns: 1 },
  T15: { title: 'lists-itself', maxRuns: 0 },
  T16: { title: 'says-why', maxRuns: 1 },
  T17: { title: 'pending', maxRuns: 2 },
  T18: { title: 'keeps-to-itself', maxRuns: 3 },
} as const;

export type TrialId = keyof typeof TRIALS;

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
