import type { HttpObservation, Lookup, ResourceSet } from '../model/observations.ts';
import {
  type Basis,
  type EngineOutcome,
  notEvaluated,
  notSeen,
  type Status,
  type Verdict,
} from '../model/verdict.ts';
import type { OpenApiReading } from '../parse/kit/find-openapi.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { DocumentReading } from '../parse/kit/read-document.ts';
import type { ChallengedResource } from '../parse/x402/challenge.ts';

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

const FIREWALL_FIX =
  'Let callers without a browser through the firewall: it answers them with 403.';

type Absent = Exclude<DocumentReading['state'], 'present'>;

/** Outcomes for a missing document, in the order in which `kit.document` tests them. */
export function documentOutcomes(fix: string): Readonly<Record<Absent, Outcome>> {
  return {
    unreadable: fail(fix),
    absent: fail(fix),
    'soft-404': fail(fix),
    html: fail(fix),
    oversize: fail(fix),
  };
}

/** Finds the reason why a path has no JSON document; null when it has one. */
export function absence(
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
  kit: Kit,
): Found<Absent | 'not-json'> | null {
  const reading = kit.document(path, answer, soft404);
  if (reading.state !== 'present') {
    const isRefused = reading.state === 'absent' && reading.status === 403;
    return [reading.state, reading.evidence, isRefused ? FIREWALL_FIX : undefined];
  }
  const json = kit.json(reading.body);
  return json.ok ? null : ['not-json', `GET ${path}: 200, ${json.detail}`];
}

const HOUR_SEC = 3_600;
const OPENAPI_FIX = 'Serve the OpenAPI document as JSON at /openapi.json.';
const CHALLENGE_FIX = 'Correct what P2 names first.';

/** A third party that was not asked, or failed to answer, is not a fault of the origin. */
export function unanswered(
  lookup: Exclude<Lookup<unknown>, { state: 'seen' }>,
  what: string,
  fix: string,
): Verdict<'offline' | 'unseen'> {
  if (lookup.state === 'off') {
    return notSeen('offline', `${what}: not asked, ${lookup.why} (0 requests)`, fix);
  }
  return notSeen('unseen', `${lookup.source}: ${lookup.detail} (0 good answers)`, fix);
}

/** "as of 2026-08-14T12:00:00.000Z (3 h old)" */
export function askedAt({ asOf, ageSec }: { readonly asOf: string; readonly ageSec: number }) {
  return `as of ${asOf} (${Math.floor(ageSec / HOUR_SEC)} h old)`;
}

/** Checks that read the OpenAPI document cannot judge without one; S1 reports why it is missing. */
export function needsOpenApi(
  reading: Exclude<OpenApiReading, { state: 'found' }>,
): Verdict<'prerequisite-failed'> {
  const what = reading.state === 'yaml' ? `${reading.path} is YAML` : reading.evidence;
  return notEvaluated('S1', what, OPENAPI_FIX);
}

/** P2 did not fail, yet no challenge was seen: seeing one takes a request that the scan may not send. */
export function unchallenged(probed: number): Verdict<'unseen'> {
  const evidence = `0 of ${probed} resources challenged by what we may send`;
  return notSeen('unseen', evidence, CHALLENGE_FIX);
}

/** The probe plan exceeded its limits of time or memory. */
export function unplanned(planFailure: string): Verdict<'limits'> {
  return {
    status: 'fail',
    basis: 'measured',
    outcome: 'limits',
    evidence: `no plan: ${planFailure}`,
    fix: 'Serve smaller and less deeply nested documents.',
  };
}

/** Limited by the length of evidence; one example is enough to act on. */
const MAX_SHOWN = 3;

/**
 * Judges each resource that challenged. Returns the worst finding with its count ("2 of 3") and requests,
 * or `sound` with "2 of 3 resources". `inspect` returns the text after the request. With `unjudged`,
 * resources that offer only what is known and not judged are counted apart, and are that outcome if
 * there are no others.
 */
export function worstOf<Name extends string>(
  outcomes: Outcomes<Name>,
  resources: ResourceSet,
  kit: Kit,
  inspect: (one: ChallengedResource) => readonly Found<NoInfer<Name>>[],
  sound: (count: string, challenged: readonly ChallengedResource[]) => Found<NoInfer<Name>>,
  unjudged?: NoInfer<Name>,
): Finding<Name> {
  const challenged = kit.challenged(resources);
  if (challenged.length === 0) return unchallenged(resources.probed.length);
  const requestOf = ({ probe, resource }: ChallengedResource) =>
    kit.request(probe.method, resource.path);
  const named = challenged.flatMap((one) => {
    const text = unjudged === undefined ? null : kit.namedOnly(one.reading.challenge);
    return text === null ? [] : [{ one, text: `${requestOf(one)} ${text}` }];
  });
  const judged = challenged.filter((each) => named.every(({ one }) => one !== each));
  if (unjudged !== undefined && judged.length === 0) {
    const texts = listed(named.map(({ text }) => text));
    return [unjudged, `${named.length} of ${named.length}: ${texts}`];
  }
  const lists = judged.map((one) =>
    inspect(one).map(([name, text, fix]): Found<Name> => [name, `${requestOf(one)} ${text}`, fix]),
  );
  // One path can be two resources when no method is declared.
  const silent = kit
    .selling(resources)
    .filter((one) => !kit.isMadeUp(one) && challenged.every(({ resource }) => resource !== one));
  const count = `${judged.length} of ${challenged.length + silent.length} resources`;
  const finding = worst(outcomes, lists) ?? sound(count, judged);
  if (named.length === 0) return finding;
  const [name, evidence, fix] = finding;
  return [name, `${evidence}; ${named.length} more: known, not judged here`, fix];
}

/** `lists` has one list per judged item. Returns null when all lists are empty. */
export function worst<Name extends string>(
  outcomes: Outcomes<Name>,
  lists: readonly (readonly Found<NoInfer<Name>>[])[],
): Found<Name> | null {
  const all = lists.flat();
  const name = Object.keys(outcomes).find((key) => all.some(([one]) => one === key));
  const same = all.filter(([one]) => one === name);
  const [first] = same;
  if (first === undefined) return null;
  const having = lists.filter((list) => list.some(([one]) => one === name)).length;
  const evidence = `${having} of ${lists.length}: ${listed(same.map(([, text]) => text))}`;
  return [first[0], evidence, first[2]];
}

/** Lists the first three and the number of the others. */
export function listed(texts: readonly string[]): string {
  const rest = texts.length - MAX_SHOWN;
  return texts.slice(0, MAX_SHOWN).join('; ') + (rest > 0 ? `; ${rest} more` : '');
}
