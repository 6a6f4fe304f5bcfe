import type { Basis, EngineOutcome, Status, Verdict } from '../model/verdict.ts';

export type Outcome = {
  readonly status: Status;
  readonly basis: Basis;
  /** One imperative line. `Found` may override it. */
  readonly fix: string;
};

/** In order of precedence, keyed by what was seen. */
export type Outcomes<Name extends string = string> = Readonly<Record<Name, Outcome>>;

/** The row's name, the facts, and optionally a fix that overrides the row's. */
export type Found<Name extends string = string> = readonly [
  outcome: Name,
  evidence: string,
  fix?: string | undefined,
];

/** Returned by `evaluate`: a row of the check's own, or an outcome that every check shares. */
export type Finding<Name extends string = string> = Found<Name> | Verdict<EngineOutcome>;

export function pass(fix: string): Outcome {
  return { status: 'pass', basis: 'measured', fix };
}

export function warn(fix: string): Outcome {
  return { status: 'warn', basis: 'measured', fix };
}

export function fail(fix: string): Outcome {
  return { status: 'fail', basis: 'measured', fix };
}

/** Counts as a pass when there is nothing to judge; the evidence says so. */
export function notApplicable(fix: string): Outcome {
  return { status: 'pass', basis: 'not_applicable', fix };
}

/** Leaves the check out of the score: the observation failed through no fault of the origin. */
export function notDetermined(fix: string): Outcome {
  return { status: 'warn', basis: 'not_determined', fix };
}

/** Throws TypeError when the table lacks the finding, which is a defect of the check. */
export function toVerdict<Name extends string>(
  outcomes: Outcomes<Name>,
  finding: Finding<Name>,
): Verdict<Name | EngineOutcome> {
  // `readVerdict` validates verdicts, which are objects.
  if (!isFound(finding)) return finding;
  const [outcome, facts, fix] = finding;
  if (!Object.hasOwn(outcomes, outcome)) {
    throw new TypeError(`Outcome ${JSON.stringify(outcome)} is not in the check's list.`);
  }
  const row = outcomes[outcome];
  const evidence = row.basis === 'not_applicable' ? `Not applicable: ${facts}` : facts;
  return { status: row.status, basis: row.basis, outcome, evidence, fix: fix ?? row.fix };
}

function isFound<Name extends string>(finding: Finding<Name>): finding is Found<Name> {
  return Array.isArray(finding);
}
