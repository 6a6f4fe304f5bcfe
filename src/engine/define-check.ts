/** The shape of a check: what it needs, what it presumes, the closed table of what it can find. */
import type { ObservationName, Observations } from '../model/observations.ts';
import type { EngineOutcome, Verdict } from '../model/verdict.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { type Finding, type Outcomes, toVerdict } from './outcomes.ts';

export { absence, documentOutcomes } from './document-outcomes.ts';
export { askedAt, needsOpenApi, unanswered, unchallenged, unplanned } from './engine-findings.ts';
export {
  type Finding,
  type Found,
  fail,
  notApplicable,
  notDetermined,
  pass,
  warn,
} from './outcomes.ts';
export { listed, worst, worstOf } from './worst-of.ts';

export type Seen<Name extends ObservationName> = Readonly<Pick<Observations, Name>>;

/** The check in three sentences for people, each whole and without the id. */
export type Sentences = {
  /** Said of an origin that passes: "Paid resources answer an unpaid request with a challenge." */
  readonly right: string;
  /** Said of one that was judged and does not: "Some paid resources do not ask for payment." */
  readonly wrong: string;
  /** Said where it was not judged; why stands in the evidence: "It is not known whether …". */
  readonly unjudged: string;
};

type Terms<Needs extends readonly ObservationName[]> = {
  /** As in the catalog: "P6". */
  readonly id: string;
  /** Published versions never change; a rule that moves any verdict is a new version. */
  readonly version: number;
  readonly says: Sentences;
  /** The observations it may see. Nothing else crosses to the worker. */
  readonly needs: Needs;
  /** Checks without which this one means nothing: where one fails, this is `not_evaluated`. */
  readonly requires: readonly string[];
};

export type CheckOptions<
  Needs extends readonly ObservationName[],
  Name extends string,
> = Terms<Needs> & {
  /** What can be seen, in order of precedence; the README and the cases have the same list. */
  readonly outcomes: Outcomes<Name>;
  /** Pure and synchronous: no clock, no network, no state; frozen input. Names a row and the facts. */
  evaluate(seen: Seen<Needs[number]>, kit: Kit): Finding<NoInfer<Name>>;
};

/** A check as the engine runs it. */
export type CheckDefinition<
  Needs extends readonly ObservationName[] = readonly ObservationName[],
  Name extends string = string,
> = Terms<Needs> & {
  /** Names of the table's rows, in its order. */
  readonly outcomes: readonly Name[];
  evaluate(seen: Seen<Needs[number]>, kit: Kit): Verdict<Name | EngineOutcome>;
};

export function defineCheck<
  const Needs extends readonly ObservationName[],
  const Name extends string,
>(check: CheckOptions<Needs, Name>): CheckDefinition<Needs, Name> {
  const { outcomes, ...terms } = check;
  return {
    ...terms,
    outcomes: namesOf(outcomes),
    evaluate: (seen, kit) => toVerdict(outcomes, check.evaluate(seen, kit)),
  };
}

/** `Object.keys` forgets which keys it lists. */
function namesOf<Name extends string>(outcomes: Outcomes<Name>): readonly Name[] {
  const isName = (key: string): key is Name => Object.hasOwn(outcomes, key);
  return Object.keys(outcomes).filter(isName);
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
