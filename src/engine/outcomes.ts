/** What a check can find, as a table: what each finding is worth, and what to do about it. */
import type { Basis, EngineOutcome, Status, Verdict } from '../model/verdict.ts';

export type Outcome = {
  readonly status: Status;
  readonly basis: Basis;
  /** One imperative line; where a finding needs another, it brings its own. */
  readonly fix: string;
};

/** In order of precedence, by the name of what was seen. */
export type Outcomes<Name extends string = string> = Readonly<Record<Name, Outcome>>;

/** A row of the table by its name, the facts that lead to it, and a fix where the row's is not it. */
export type Found<Name extends string = string> = readonly [
  outcome: Name,
  evidence: string,
  fix?: string | undefined,
];

/** What `evaluate` returns: a finding of its own, or one of those that every check may have. */
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

/** Nothing to judge: counts as a pass, and evidence says so. */
export function notApplicable(fix: string): Outcome {
  return { status: 'pass', basis: 'not_applicable', fix };
}

/** Could not be observed through no fault that we may judge: left out of the score. */
export function notDetermined(fix: string): Outcome {
  return { status: 'warn', basis: 'not_determined', fix };
}

/** Throws TypeError where the finding is none of the table's: a defect of the check. */
export function toVerdict<Name extends string>(
  outcomes: Outcomes<Name>,
  finding: Finding<Name>,
): Verdict<Name | EngineOutcome> {
  // What is no list is held to the contract of verdicts by `readVerdict`.
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
