/** Verdicts: what a check says of an origin. The engine adds title, category and severity. */

export type Status = 'pass' | 'warn' | 'fail';
export type Basis = 'measured' | 'not_applicable' | 'not_determined' | 'not_evaluated';

/** Outcomes that any check may have beside its own: the engine sets them, or a check asks for them. */
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
  /** What was seen: path, status, JSON pointer and value; quoted short and sanitised. */
  readonly evidence: string;
  /** One imperative line. Never holds text of the origin. */
  readonly fix: string;
};

/** Could not be observed through no fault that we may judge: left out of the score. */
export function notSeen<const O extends 'unseen' | 'offline'>(
  outcome: O,
  evidence: string,
  fix: string,
): Verdict<O> {
  return { status: 'warn', basis: 'not_determined', outcome, evidence, fix };
}

/** A prerequisite failed; `cause` is the id of the check that names the root of it. */
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
