import type { ObservationName, Observations } from '../model/observations.ts';
import type { EngineOutcome, Verdict } from '../model/verdict.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { cleanText } from '../parse/text/text.ts';
import { type Finding, isFound, type Outcomes, toVerdict } from './findings.ts';

export { notEvaluated, notSeen } from '../model/verdict.ts';
export * from './findings.ts';
export * from './missing-challenge.ts';
export { judgeNoneFound, NOTHING_PAID_OUTCOMES } from './nothing-paid.ts';

export type Seen<Name extends ObservationName> = Readonly<Pick<Observations, Name>>;

/** Three complete sentences for people, without the check's id. */
export type Sentences = {
  /** Said of an origin that passes: "Paid resources answer an unpaid request with a challenge." */
  readonly right: string;
  /** Said of an origin that was judged and does not pass: "Some paid resources do not ask for payment." */
  readonly wrong: string;
  /** Said of an origin that was not judged. The evidence gives the reason: "It is not known whether …". */
  readonly unjudged: string;
};

type CheckHead<Needs extends readonly ObservationName[]> = {
  /** The id in the catalog: "P6". */
  readonly id: string;
  /** Published versions never change; a rule that changes any verdict needs a new version. */
  readonly version: number;
  readonly says: Sentences;
  /** The observations that `evaluate` receives. Nothing else is sent to the worker. */
  readonly needs: Needs;
  /** Checks that must not fail. If one fails, this check is `not_evaluated`. */
  readonly requires: readonly string[];
};

export type CheckOptions<
  Needs extends readonly ObservationName[],
  Name extends string,
> = CheckHead<Needs> & {
  /** Outcomes in order of precedence. The check's README and cases have the same list. */
  readonly outcomes: Outcomes<Name>;
  /** Pure and synchronous, without clock, network or state. Input is frozen. */
  evaluate(seen: Seen<Needs[number]>, kit: Kit): Finding<NoInfer<Name>>;
};

/** A check as the engine runs it. */
export type CheckDefinition<
  Needs extends readonly ObservationName[] = readonly ObservationName[],
  Name extends string = string,
> = CheckHead<Needs> & {
  /** Names of the outcomes, in order of precedence. */
  readonly outcomes: readonly Name[];
  evaluate(seen: Seen<Needs[number]>, kit: Kit): Verdict<Name | EngineOutcome>;
};

export function defineCheck<
  const Needs extends readonly ObservationName[],
  const Name extends string,
>(check: CheckOptions<Needs, Name>): CheckDefinition<Needs, Name> {
  const { outcomes, evaluate, ...head } = check;
  return {
    ...head,
    outcomes: listNames(outcomes),
    evaluate: (seen, kit) => toVerdict(outcomes, evaluate(seen, kit)),
  };
}

/** `Object.keys` would lose the key type. */
function listNames<Name extends string>(outcomes: Outcomes<Name>): readonly Name[] {
  const isName = (key: string): key is Name => Object.hasOwn(outcomes, key);
  return Object.keys(outcomes).filter(isName);
}

/** A fact beside a finding, after the name of an outcome or a word of the check. A finding is a note too, with its fix. */
export type Note = readonly [name: string, text: string, ...rest: readonly unknown[]];

/** Below the limit of evidence, because the engine cuts longer texts. */
const MAX_NOTED_CHARS = 480;
const MAX_POINTERS = 12;

/**
 * Adds the notes that the evidence does not have yet: "…; also: /accepts/1/amount: 5 (bad-field)". If they are too long,
 * only their pointers.
 */
export function withNotes<Name extends string>(
  finding: Finding<Name>,
  notes: readonly Note[],
): Finding<Name> {
  if (!isFound(finding)) return finding;
  const [name, evidence, fix] = finding;
  const byText = new Map(notes.map((note) => [note[1], note]));
  const unnamed = [...byText.values()].filter(([, text]) => !evidence.includes(text));
  if (unnamed.length === 0) return [name, cleanText(evidence, MAX_NOTED_CHARS), fix];
  const full = unnamed.map(([kind, text]) => `${text} (${kind})`).join('; ');
  const text = `${evidence}; also: ${full}`;
  if (text.length <= MAX_NOTED_CHARS) return [name, text, fix];
  const pointers = [...new Set(unnamed.map(([, note]) => note.split(/:? /, 1)[0]))];
  const rest = pointers.length - MAX_POINTERS;
  const short = pointers.slice(0, MAX_POINTERS).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  const main = cleanText(evidence, MAX_NOTED_CHARS - short.length);
  return [name, `${main}; also: ${short}`, fix];
}

/** One row of a check's cases.ts: the observations and the expected finding. */
export type CheckCase<Name extends ObservationName = ObservationName> = {
  readonly name: string;
  /** Versions that the case tests; absent means all. */
  readonly versions?: readonly number[];
  readonly seen: Partial<Seen<Name>>;
  readonly expect: {
    readonly status: Verdict['status'];
    readonly outcome: string;
    readonly basis?: Verdict['basis'];
    /** Literal texts that the evidence must contain. */
    readonly evidence?: readonly string[];
  };
};
