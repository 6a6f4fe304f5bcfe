import type { HttpObservation, Lookup, ResourceSet } from '../model/observations.ts';
import {
  type Basis,
  type EngineOutcome,
  limitsExceeded,
  notEvaluated,
  notSeen,
  type Status,
  type Verdict,
} from '../model/verdict.ts';
import type { OpenApiReading } from '../parse/kit/find-documents.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { DocumentReading } from '../parse/kit/read-document.ts';
import type { Challenge, ChallengedResource } from '../parse/x402/challenge.ts';

export type Outcome = {
  readonly status: Status;
  readonly basis: Basis;
  /** One imperative line. `Found` may override it. */
  readonly fix: string;
};

/** Rows in order of precedence, by the outcome's name. */
export type Outcomes<Name extends string = string> = Readonly<Record<Name, Outcome>>;

/** The row's name, the facts, and optionally a fix that overrides the fix of the row. */
export type Found<Name extends string = string> = readonly [
  outcome: Name,
  evidence: string,
  fix?: string | undefined,
];

/** Returned by `evaluate`: a row of the check's own table, or an outcome that every check shares. */
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

/** Counts as a pass, because there is nothing to judge. The evidence says so. */
export function notApplicable(fix: string): Outcome {
  return { status: 'pass', basis: 'not_applicable', fix };
}

/** Leaves the check out of the score, because the observation failed through no fault of the origin. */
export function notDetermined(fix: string): Outcome {
  return { status: 'warn', basis: 'not_determined', fix };
}

/** Throws TypeError if the table has no row for the finding. The check then has a defect. */
export function toVerdict<Name extends string>(
  outcomes: Outcomes<Name>,
  finding: Finding<Name>,
): Verdict<Name | EngineOutcome> {
  // An outcome that every check shares is a verdict already.
  if (!isFound(finding)) return finding;
  const [outcome, facts, fix] = finding;
  if (!Object.hasOwn(outcomes, outcome)) {
    throw new TypeError(`Outcome ${JSON.stringify(outcome)} is not in the check's list.`);
  }
  const row = outcomes[outcome];
  const evidence = row.basis === 'not_applicable' ? `Not applicable: ${facts}` : facts;
  return { status: row.status, basis: row.basis, outcome, evidence, fix: fix ?? row.fix };
}

export function isFound<Name extends string>(finding: Finding<Name>): finding is Found<Name> {
  return Array.isArray(finding);
}

/** Returns the fix for a document or icon that answers 401, 402 or 403; undefined for every other status. */
export function passageFix(path: string, status: number | null): string | undefined {
  if (status === 401) {
    return `Let callers without a login read GET ${path}: a login answers them with 401.`;
  }
  if (status === 403) {
    return 'Let callers without a browser through the firewall: it answers them with 403.';
  }
  if (status !== 402) return undefined;
  return `Let GET ${path} through the payment guard: agents read it without a payment.`;
}

const RATE_FIX = 'Let a scan read the documents: do not rate-limit a few requests within a minute.';

type MissingState = Exclude<DocumentReading['state'], 'present'>;
type FailedState = Exclude<MissingState, 'over-limit' | 'rate-limited'>;

/** The document met a 429, or our politeness kept its request back. */
export function rateLimited(): Outcome {
  return warn(RATE_FIX);
}

/** The document may be right, but it exceeds a limit of this scanner. `kind` is "OpenAPI document" or the like. */
export function overLimit(kind: string, limits: string): Outcome {
  return warn(
    `Keep the ${kind} under ${limits}, the limits of this scanner: shorten what it repeats.`,
  );
}

/** Outcomes for a missing document, in the order in which `kit.document` tests them. */
export function documentOutcomes(
  fix: string,
): Readonly<Record<FailedState | 'rate-limited', Outcome>> {
  const row = fail(fix);
  return {
    'rate-limited': rateLimited(),
    unreadable: row,
    absent: row,
    'soft-404': row,
    html: row,
  };
}

/** Finds the reason why a path has no JSON document; null if it has a JSON document. */
export function absence(
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
  kit: Kit,
  parse: Kit['json'] = kit.json,
): Found<MissingState | 'not-json'> | null {
  const reading = kit.document(path, answer, soft404);
  if (reading.state !== 'present') {
    const status = reading.state === 'absent' ? reading.status : null;
    return [reading.state, reading.evidence, passageFix(path, status)];
  }
  const json = parse(reading.body);
  if (json.ok) return null;
  if (json.isOverLimit) return ['over-limit', `GET ${path}: 200, but ${json.detail}, our limit`];
  return ['not-json', `GET ${path}: 200, ${json.detail}`];
}

/** The origin is not at fault if a third party was not asked, or failed to answer. */
export function unanswered(
  lookup: Exclude<Lookup<unknown>, { state: 'seen' }>,
  subject: string,
  fix: string,
): Verdict<'offline' | 'unseen'> {
  if (lookup.state === 'off') {
    return notSeen('offline', `${subject}: not asked, ${lookup.why} (0 requests)`, fix);
  }
  return notSeen('unseen', `${lookup.source}: ${lookup.detail} (0 good answers)`, fix);
}

const HOUR_SEC = 3_600;

/** "as of 2026-08-14T12:00:00.000Z (3 h old)" */
export function askedAt({ asOf, ageSec }: { readonly asOf: string; readonly ageSec: number }) {
  return `as of ${asOf} (${Math.floor(ageSec / HOUR_SEC)} h old)`;
}

const UNREAD_FIX = 'Let a scan read the OpenAPI document, as S1 says.';

/** Outcomes of checks that need the OpenAPI document, if it is there and we did not read it. */
export const OPENAPI_UNREAD = {
  'over-limit': warn(UNREAD_FIX),
  'rate-limited': warn(UNREAD_FIX),
} as const;

/** Checks that read the OpenAPI document cannot judge without it. S1 reports why it is missing. */
export function needsOpenApi(
  reading: Exclude<OpenApiReading, { state: 'found' }>,
): Finding<keyof typeof OPENAPI_UNREAD> {
  if (reading.state === 'unread') return [reading.why, reading.evidence];
  const fix = 'Serve the OpenAPI document as JSON at /openapi.json.';
  return notEvaluated('S1', reading.evidence, fix);
}

/** P2 did not fail, but no challenge was seen, because only a request that we do not send would get a challenge. */
export function unchallenged(probed: number): Verdict<'unseen'> {
  const evidence = `0 of ${probed} resources challenged by what we may send`;
  return notSeen('unseen', evidence, 'Correct what P2 names first.');
}

/** The probe plan exceeded its limits of time or memory. */
export function unplanned(planFailure: string): Verdict<'limits'> {
  return limitsExceeded(`no plan: ${planFailure}`);
}

/** Evidence has a maximum length, and one example is enough to act on. */
const MAX_LISTED = 3;

/** Resources that a check counts, but does not judge. `describe` returns null for a challenge of another kind. */
export type Unjudged<Name extends string> = readonly [
  outcome: Name,
  describe: (challenge: Challenge) => string | null,
  summary: string,
];

/** The reason for no verdict on known pairs of scheme and network. */
export const NAMED_SUMMARY = 'known, not judged here';

/**
 * Judges each resource that challenged. Returns the worst finding of `inspect`, with its count ("2 of 3") and
 * its requests. A text that `inspect` finds twice in a resource counts once. If `inspect` finds nothing, returns the finding of `sound`, which gets "2 of 3 resources".
 * The rows of `unjudged` find resources that are only counted. If all resources are, the outcome is that of the first
 * row that found one.
 */
export function worstOf<Name extends string>(
  outcomes: Outcomes<Name>,
  resources: ResourceSet,
  kit: Kit,
  inspect: (challenged: ChallengedResource) => readonly Found<NoInfer<Name>>[],
  sound: (count: string, challenged: readonly ChallengedResource[]) => Found<NoInfer<Name>>,
  unjudged: readonly Unjudged<NoInfer<Name>>[] = [],
): Finding<Name> {
  const challenged = kit.challenged(resources);
  if (challenged.length === 0) return unchallenged(resources.probed.length);
  const toLine = ({ probe, resource }: ChallengedResource, text: string) =>
    `${kit.request(probe.method, resource.path)} ${text}`;
  // The first row that describes a challenge decides.
  const counted = challenged.flatMap((item) => {
    const rows = unjudged.flatMap(([outcome, describe, summary]) => {
      const text = describe(item.reading.challenge);
      return text === null ? [] : [{ item, outcome, summary, line: toLine(item, text) }];
    });
    return rows.slice(0, 1);
  });
  const judged = challenged.filter((item) => counted.every((row) => row.item !== item));
  const firstRow = unjudged.find(([outcome]) => counted.some((row) => row.outcome === outcome));
  if (firstRow !== undefined && judged.length === 0) {
    const lines = listed(counted.map(({ line }) => line));
    return [firstRow[0], `${counted.length} of ${counted.length}: ${lines}`];
  }
  const lists = judged.map((item) => {
    const foundByText = new Map(inspect(item).map((found) => [found[1], found]));
    return [...foundByText.values()].map(
      ([name, text, fix]): Found<Name> => [name, toLine(item, text), fix],
    );
  });
  // If no method is declared, GET and POST of one path can be two resources.
  const unchallengedResources = kit
    .selling(resources)
    .filter((sold) => !kit.isMadeUp(sold) && challenged.every(({ resource }) => resource !== sold));
  const count = `${judged.length} of ${challenged.length + unchallengedResources.length} resources`;
  const finding = worst(outcomes, lists) ?? sound(count, judged);
  const summaries = [...Map.groupBy(counted, ({ summary }) => summary)].map(
    ([summary, items]) => `${items.length} more: ${summary}`,
  );
  const notes = [...summaries, kit.describeNotKnown(resources)].filter((note) => note !== null);
  if (notes.length === 0) return finding;
  const [name, evidence, fix] = finding;
  return [name, [evidence, ...notes].join('; '), fix];
}

/** Returns the worst finding of all lists; null if all lists are empty. Each judged item has one list. */
export function worst<Name extends string>(
  outcomes: Outcomes<Name>,
  lists: readonly (readonly Found<NoInfer<Name>>[])[],
): Found<Name> | null {
  const all = lists.flat();
  const name = Object.keys(outcomes).find((key) => all.some(([outcome]) => outcome === key));
  const worstFindings = all.filter(([outcome]) => outcome === name);
  const [first] = worstFindings;
  if (first === undefined) return null;
  const affectedCount = lists.filter((list) => list.some(([outcome]) => outcome === name)).length;
  const evidence = `${affectedCount} of ${lists.length}: ${listed(worstFindings.map(([, text]) => text))}`;
  return [first[0], evidence, first[2]];
}

/** Joins the first three texts, and adds the number of further texts. */
export function listed(texts: readonly string[]): string {
  const unlisted = texts.length - MAX_LISTED;
  return texts.slice(0, MAX_LISTED).join('; ') + (unlisted > 0 ? `; ${unlisted} more` : '');
}
