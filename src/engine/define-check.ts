/** The shape of a check: what it needs, what it presumes, the closed list of what it can find. */
import type { ObservationName, Observations } from '../model/observations.ts';
import type { EngineOutcome, Verdict } from '../model/verdict.ts';
import type { Kit } from '../parse/kit/kit.ts';

export type Seen<Name extends ObservationName> = Readonly<Pick<Observations, Name>>;

export type CheckDefinition<
  Needs extends readonly ObservationName[] = readonly ObservationName[],
  Outcomes extends readonly string[] = readonly string[],
> = {
  /** As in the catalog: "P6". */
  readonly id: string;
  /** Published versions never change; a rule that moves any verdict is a new version. */
  readonly version: number;
  /** The observations it may see. Nothing else crosses to the worker. */
  readonly needs: Needs;
  /** Checks without which this one means nothing: where one fails, this is `not_evaluated`. */
  readonly requires: readonly string[];
  /** What can be seen, in order of precedence; the README and the cases have the same list. */
  readonly outcomes: Outcomes;
  /** Pure and synchronous: no clock, no network, no state; frozen input. */
  evaluate(seen: Seen<Needs[number]>, kit: Kit): Verdict<Outcomes[number] | EngineOutcome>;
};

export function defineCheck<
  const Needs extends readonly ObservationName[],
  const Outcomes extends readonly string[],
>(check: CheckDefinition<Needs, Outcomes>): CheckDefinition<Needs, Outcomes> {
  return check;
}

/** One row of a check's cases.ts: observations in, the named finding out. */
export type CheckCase<Name extends ObservationName = ObservationName> = {
  readonly name: string;
  /** Versions the case holds for; all where absent. */
  readonly versions?: readonly number[];
  readonly seen: Partial<Seen<Name>>;
  readonly expect: {
    readonly status: Verdict['status'];
    readonly outcome: string;
    readonly basis?: Verdict['basis'];
    /** Facts that evidence must hold, each a literal part of it. */
    readonly evidence?: readonly string[];
  };
};
