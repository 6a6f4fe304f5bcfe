export type Status = 'pass' | 'warn' | 'fail';
export type Basis = 'measured' | 'not_applicable' | 'not_determined' | 'not_evaluated';

/** Outcomes that all checks share. The engine sets them, or a check returns them. */
export const ENGINE_OUTCOMES = [
  'prerequisite-failed',
  'limits',
  'fault',
  'offline',
  'unseen',
] as const;
export type EngineOutcome = (typeof ENGINE_OUTCOMES)[number];

export type Verdict<Outcome extends string = string> = {
  readonly status: Status;
  readonly basis: Basis;
  readonly outcome: Outcome;
  /** Path, status, JSON pointer and value; quoted short and sanitised. */
  readonly evidence: string;
  /** One imperative line. It never quotes the origin. */
  readonly fix: string;
};

/** Excludes the check from the score, because its observation is missing through no fault of the origin. */
export function notSeen<const O extends EngineOutcome>(
  outcome: O,
  evidence: string,
  fix: string,
): Verdict<O> {
  return { status: 'warn', basis: 'not_determined', outcome, evidence, fix };
}

const LIMITS_FIX = 'Serve smaller and less deeply nested documents.';

/** The documents of the origin exceeded our limits of time or memory. */
export function limitsExceeded(evidence: string): Verdict<'limits'> {
  return { status: 'fail', basis: 'measured', outcome: 'limits', evidence, fix: LIMITS_FIX };
}

/** `cause` is the id of the check whose failure is the root cause. */
export function notEvaluated(
  cause: string,
  evidence: string,
  fix: string,
): Verdict<'prerequisite-failed'> {
  return {
    status: 'fail',
    basis: 'not_evaluated',
    outcome: 'prerequisite-failed',
    evidence: `Not evaluated, see ${cause}: ${evidence}`,
    fix,
  };
}

const ROOT_CAUSE_ID = /^Not evaluated, see ([A-Z]\d+)\b/;

type VerdictWithId = Pick<Verdict, 'basis' | 'outcome' | 'evidence'> & { readonly id: string };

/**
 * Groups results that were not evaluated because another check failed, by the id of that check. If our fault
 * broke that check, its group is left out. Its own result, in `all`, then says that the fault is ours.
 */
export function groupByRootCause<Result extends VerdictWithId>(
  results: readonly Result[],
  all: readonly VerdictWithId[] = results,
): ReadonlyMap<string, readonly Result[]> {
  const broken = new Set(all.filter(({ outcome }) => outcome === 'fault').map(({ id }) => id));
  const groups = new Map<string, Result[]>();
  for (const result of results) {
    if (result.basis !== 'not_evaluated') continue;
    const [, cause] = ROOT_CAUSE_ID.exec(result.evidence) ?? [];
    if (cause === undefined || broken.has(cause)) continue;
    groups.set(cause, [...(groups.get(cause) ?? []), result]);
  }
  return groups;
}
