/** Trials in the order of their ids, by the names that people read. */
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
} as const;

export type TrialId = keyof typeof TRIALS;
export const TRIAL_IDS = Object.keys(TRIALS).filter(isTrialId);

export function isTrialId(text: string): text is TrialId {
  return Object.hasOwn(TRIALS, text);
}

/** The least wanted first. */
export const TRIAL_STATUSES = ['fail', 'warn', 'not_run', 'pass'] as const;
export type TrialStatus = (typeof TRIAL_STATUSES)[number];

/** A finding of a trial, before its fix is put beside it. */
export type Finding = {
  readonly status: TrialStatus;
  /** Request, answer, and what was asked of the facilitator. */
  readonly evidence: string;
  /** The failure was a delivery for nothing. */
  readonly isGift?: boolean;
};

export type TrialResult = {
  readonly id: TrialId;
  readonly title: string;
  readonly status: TrialStatus;
  readonly evidence: string;
  readonly fix: string;
  /** "GET /weather"; null where none is named. */
  readonly route: string | null;
};

export type PayTestReport = {
  readonly target: string;
  readonly facilitator: string;
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  readonly trials: readonly TrialResult[];
  readonly summary: {
    readonly pass: number;
    readonly warn: number;
    readonly fail: number;
    readonly not_run: number;
    /** A good payment was delivered on every route that was tried. */
    readonly delivers: boolean;
    /** How many of T2 to T12 failed by a delivery, once each over all routes. */
    readonly gifts: number;
  };
};

export type PayTested = {
  readonly report: PayTestReport;
  /** Why the report judges nothing but T1; null where it does. */
  readonly impossible: string | null;
};

/** The seller cannot be tested: there is no verdict. */
export class PayTestImpossible extends Error {
  override readonly name = 'PayTestImpossible';
}
