import type { JsonObject } from '../model/json.ts';
import { PAYABLE_BY, type PayableBy } from '../model/payability.ts';
import { ALL_GRADES, type CheckResult, type ScanReport } from '../model/report.ts';
import { cleanText } from '../parse/text/text.ts';
import { caip2 } from '../parse/x402/networks.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import type { ResourceAnswer, WatchedResource } from './ask-resources.ts';

/** One thing that a look saw, in the form that an event tells it. */
export type Fact = {
  readonly value: JsonObject;
  /** Equal marks: nothing has changed. */
  readonly mark: string;
  /** A greater one is worse. */
  readonly rank: number;
  readonly by: 'scan' | 'challenge';
};

/** Keys: `grade`, `payability`, `reachable`, `check P3`, `terms GET /weather`, `listing https://example.com/weather`. */
export type Facts = Readonly<Record<string, Fact>>;

export type LookResult = {
  readonly by: 'scan' | 'challenge';
  readonly atMs: number;
  readonly facts: Facts;
  /** Null when a look does not show them. */
  readonly resources: readonly WatchedResource[] | null;
  readonly checksVersion: string | null;
};

type Terms = {
  readonly scheme: string | null;
  readonly network: string | null;
  readonly asset: string | null;
  readonly amount: string | null;
  readonly payTo: string | null;
};

/** A look asks as many resources as a scan does. */
export const MAX_RESOURCES = 6;
const MAX_TERM_CHARS = 120;
const MAX_PATH_CHARS = 500;
const DAY_MS = 24 * 3_600_000;
/** The Bazaar drops what nobody has paid for this long. */
const LISTED_FOR_MS = 30 * DAY_MS;
const LAPSING_AFTER_MS = 25 * DAY_MS;
const PLAIN_TERM = /^[!-~]+$/;

/** Returns null when the scan shows nothing of the origin: every answer was 429, or the fault was ours. */
export function readScan(scan: FinishedScan): LookResult | null {
  const { report, reached, rateLimited } = scan;
  if (rateLimited || report.results.some(({ outcome }) => outcome === 'fault')) return null;
  const resources = challengedResources(report);
  const entries: (readonly [string, Fact])[] = [['reachable', reachable(reached, 'scan')]];
  const { grade, score } = report;
  entries.push(['grade', factOf({ grade, score }, grade, ALL_GRADES.indexOf(grade))]);
  if (reached) entries.push(...paymentFacts(report, resources));
  for (const result of report.results) {
    // A check that was not determined, or whose prerequisite failed, has no verdict of its own.
    if (result.basis === 'not_determined' || result.basis === 'not_evaluated') continue;
    entries.push([`check ${result.id}`, checkFact(result, 'scan')]);
  }
  entries.push(...lapsingFacts(report, Date.parse(scan.scannedAt)));
  return {
    by: 'scan',
    atMs: Date.parse(scan.scannedAt),
    facts: Object.fromEntries(entries),
    resources: resources.length > 0 ? resources : null,
    checksVersion: report.checksVersion,
  };
}

/** Returns null when no answer shows anything of the origin. */
export function readAnswers(answers: readonly ResourceAnswer[], atMs: number): LookResult | null {
  const conclusive = answers.filter(({ kind }) => kind !== 'unknown');
  if (conclusive.length === 0) return null;
  const isReached = conclusive.some(({ kind }) => kind !== 'unreachable');
  const entries: (readonly [string, Fact])[] = [['reachable', reachable(isReached, 'challenge')]];
  const answered = conclusive.filter((one) => one.kind === 'answered');
  const isWhole = answered.length === answers.length;
  const best = PAYABLE_BY.find((name) => answered.some(({ payableBy }) => payableBy === name));
  if (isWhole && best !== undefined) entries.push(['payability', payability(best, 'challenge')]);
  for (const { method, path, offers } of answered) {
    if (offers.length === 0 && isWhole && best === 'nobody') continue;
    entries.push([`terms ${method} ${path}`, termsFact({ method, path }, offers, 'challenge')]);
  }
  const invalid = answered.find(({ schemaOutcome }) => schemaOutcome !== null);
  if (invalid?.schemaOutcome || isWhole) {
    const status = invalid ? 'fail' : 'pass';
    const outcome = invalid?.schemaOutcome ?? 'valid';
    entries.push(['check P3', checkFact({ id: 'P3', status, outcome }, 'challenge')]);
  }
  return {
    by: 'challenge',
    atMs,
    facts: Object.fromEntries(entries),
    resources: null,
    checksVersion: null,
  };
}

function challengedResources({ payability: known }: ScanReport): readonly WatchedResource[] {
  const resources = (known ?? []).map(({ method, path }) => ({ method, path }));
  return resources.slice(0, MAX_RESOURCES);
}

function paymentFacts(
  { payability: known, payableBy, routes }: ScanReport,
  resources: readonly WatchedResource[],
): (readonly [string, Fact])[] {
  // The report of an origin without a challenge has no `payableBy`.
  const by = payableBy ?? 'nobody';
  const entries: (readonly [string, Fact])[] =
    known === null ? [] : [['payability', payability(by, 'scan')]];
  for (const { method, path } of resources) {
    const hasChallenged = known?.some(
      (one) => one.method === method && one.path === path && one.offers.length > 0,
    );
    const route = routes?.paid.find((one) => one.method === method && one.path === path);
    if (hasChallenged && route === undefined) continue;
    const offers = hasChallenged ? (route?.offers ?? []) : [];
    if (offers.length === 0 && by === 'nobody') continue;
    entries.push([`terms ${method} ${path}`, termsFact({ method, path }, offers, 'scan')]);
  }
  return entries;
}

function factOf(value: JsonObject, mark: string, rank: number, by: Fact['by'] = 'scan'): Fact {
  return { value, mark, rank, by };
}

function reachable(isReached: boolean, by: Fact['by']): Fact {
  return factOf({ reachable: isReached }, String(isReached), isReached ? 0 : 1, by);
}

function payability(payableBy: PayableBy, by: Fact['by']): Fact {
  return factOf({ payableBy }, payableBy, PAYABLE_BY.indexOf(payableBy), by);
}

function checkFact(
  { id, status, outcome }: Pick<CheckResult, 'id' | 'status' | 'outcome'>,
  by: Fact['by'],
): Fact {
  const isFailed = status === 'fail';
  const value = { id, status, outcome: cleanText(outcome, MAX_TERM_CHARS) };
  return factOf(value, isFailed ? 'failed' : 'holds', isFailed ? 1 : 0, by);
}

/** A missing challenge ranks as worse; changed terms rank as equal. */
function termsFact(
  { method, path }: WatchedResource,
  given: readonly Terms[],
  by: Fact['by'],
): Fact {
  const offers = given.map(({ scheme, network, asset, amount, payTo }) => ({
    scheme: term(scheme),
    network: network === null ? null : term(caip2(network)),
    asset: term(asset),
    amount: term(amount),
    payTo: term(payTo),
  }));
  const value = { method, path: cleanText(path, MAX_PATH_CHARS), offers };
  return factOf(value, JSON.stringify(offers), offers.length === 0 ? 1 : 0, by);
}

/** The listings that nobody has paid for lately. Their mark is the time of the newest settlement. */
function lapsingFacts({ indexed }: ScanReport, atMs: number): readonly (readonly [string, Fact])[] {
  // Reports of older releases do not have it.
  return (indexed ?? []).flatMap(({ index, resource, lastSettledAt }) => {
    const lastMs = Date.parse(lastSettledAt ?? '');
    if (index !== 'bazaar' || !(atMs - lastMs >= LAPSING_AFTER_MS)) return [];
    const at = new Date(lastMs).toISOString();
    const lapsesAt = new Date(lastMs + LISTED_FOR_MS).toISOString();
    const value = { resource: cleanText(resource, MAX_PATH_CHARS), lastSettledAt: at, lapsesAt };
    return [[`listing ${resource}`, factOf(value, at, 0)] as const];
  });
}

/** Excludes terms with characters that reports and preflights escape differently. */
function term(text: string | null): string | null {
  return text !== null && PLAIN_TERM.test(text) ? text.slice(0, MAX_TERM_CHARS) : null;
}
