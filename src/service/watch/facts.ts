import type { JsonObject } from '../../scanner/model/json.ts';
import { PAYABLE_BY, type PayableBy } from '../../scanner/model/payability.ts';
import {
  ALL_GRADES,
  type CheckResult,
  type ReportOffer,
  type ReportRoute,
  type ScanReport,
} from '../../scanner/model/report.ts';
import { cleanText } from '../../scanner/parse/text/text.ts';
import { toCaip2 } from '../../scanner/parse/x402/networks.ts';
import { readPackageVersion } from '../../scanner/probe/client/user-agent.ts';
import type { FinishedScan } from '../scans/finished-scan.ts';
import type { ResourceAnswer, WatchedResource } from '../turns/ask-resources.ts';

/** One fact that a look found, for example the grade. `value` becomes `before` or `after` of an event. */
export type Fact = {
  readonly value: JsonObject;
  /** A fact has changed if its mark has changed. */
  readonly mark: string;
  /** A greater rank is worse. */
  readonly rank: number;
  /** `scan`: a full scan found it. `challenge`: an hourly request did. */
  readonly by: 'scan' | 'challenge';
};

/** Keys: `grade`, `payability`, `reachable`, `check P3`, `terms GET /weather`, `listing https://example.com/paid`. */
export type WatchFacts = Readonly<Record<string, Fact>>;

type FactEntry = readonly [string, Fact];

export type LookResult = {
  readonly by: 'scan' | 'challenge';
  readonly atMs: number;
  readonly facts: WatchFacts;
  /** The resources that a scan found; null if it found none, or if no scan ran. */
  readonly resources: readonly WatchedResource[] | null;
  /** Null if no scan ran. */
  readonly checksVersion: string | null;
  /** The version of the program that judged; absent in scans of older releases. */
  readonly scannerVersion?: string | undefined;
};

/** A scan probes at most as many resources. */
const MAX_RESOURCES = 6;
const MAX_TERM_CHARS = 120;
const MAX_PATH_CHARS = 500;
const DAY_MS = 24 * 3_600_000;
/** The Bazaar removes a listing after this long without a payment. */
const BAZAAR_LISTED_FOR_MS = 30 * DAY_MS;
/** A listing counts as lapsing after this long without a payment. */
const LAPSING_AFTER_MS = 25 * DAY_MS;
const SCANNER_VERSION = readPackageVersion();
const PLAIN_TERM = /^[!-~]+$/;

/** Reads the facts of a scan. Null if the scan shows nothing, because every answer was 429 or the fault was ours. */
export function readScan(scan: FinishedScan): LookResult | null {
  const { report, reached, rateLimited } = scan;
  const atMs = Date.parse(report.scannedAt);
  if (rateLimited || report.results.some(({ outcome }) => outcome === 'fault')) return null;
  const paidResources = (report.payability ?? []).slice(0, MAX_RESOURCES);
  const resources = paidResources.map(({ method, path }) => ({ method, path }));
  const entries: FactEntry[] = [['reachable', toReachableFact(reached, 'scan')]];
  const { grade, score } = report;
  entries.push(['grade', toFact({ grade, score }, grade, ALL_GRADES.indexOf(grade))]);
  if (reached) entries.push(...toPaymentFacts(report, resources));
  for (const result of report.results) {
    // A check has no verdict if it was not determined or its prerequisite failed.
    if (result.basis === 'not_determined' || result.basis === 'not_evaluated') continue;
    entries.push([`check ${result.id}`, toCheckFact(result, 'scan')]);
  }
  entries.push(...toLapsingFacts(report, atMs));
  return {
    by: 'scan',
    atMs,
    facts: Object.fromEntries(entries),
    resources: resources.length > 0 ? resources : null,
    checksVersion: report.checksVersion,
    scannerVersion: scan.scannerVersion,
  };
}

/** Reads the facts of hourly requests. Null if no answer shows anything about the origin. */
export function readAnswers(answers: readonly ResourceAnswer[], atMs: number): LookResult | null {
  const conclusive = answers.filter(({ kind }) => kind !== 'unknown');
  if (conclusive.length === 0) return null;
  const isReached = conclusive.some(({ kind }) => kind !== 'unreachable');
  const entries: FactEntry[] = [['reachable', toReachableFact(isReached, 'challenge')]];
  const answered = conclusive.filter((answer) => answer.kind === 'answered');
  const areAllAnswered = answered.length === answers.length;
  const bestPayableBy = PAYABLE_BY.find((name) =>
    answered.some(({ payableBy }) => payableBy === name),
  );
  if (areAllAnswered && bestPayableBy)
    entries.push(['payability', toPayabilityFact(bestPayableBy, 'challenge')]);
  for (const { method, path, offers } of answered) {
    // The fact `payability` already says that nobody can pay.
    if (offers.length === 0 && areAllAnswered && bestPayableBy === 'nobody') continue;
    entries.push([`terms ${method} ${path}`, toTermsFact({ method, path }, offers, 'challenge')]);
  }
  const failedOutcome = answered.find(({ p3Failure }) => p3Failure !== null)?.p3Failure;
  // One invalid answer proves a fail. A pass needs the answers of all resources.
  if (failedOutcome || areAllAnswered) {
    const status = failedOutcome ? 'fail' : 'pass';
    const outcome = failedOutcome ?? 'valid';
    entries.push(['check P3', toCheckFact({ id: 'P3', status, outcome }, 'challenge')]);
  }
  return {
    by: 'challenge',
    atMs,
    facts: Object.fromEntries(entries),
    resources: null,
    checksVersion: null,
    scannerVersion: SCANNER_VERSION,
  };
}

/** The guard refuses the origin's address now. The look counts as a scan, because a scan would be refused too. */
export function toRefusedLook(atMs: number): LookResult {
  const facts = { reachable: toReachableFact(false, 'scan') };
  return { by: 'scan', atMs, facts, resources: null, checksVersion: null };
}

function toPaymentFacts(
  { payability, payableBy: reportedPayableBy, routes }: ScanReport,
  resources: readonly WatchedResource[],
): FactEntry[] {
  // The report has none if no resource challenged.
  const payableBy = reportedPayableBy ?? 'nobody';
  const entries: FactEntry[] =
    payability === null ? [] : [['payability', toPayabilityFact(payableBy, 'scan')]];
  // A paid resource that gave no challenge is listed without offers.
  const challenged = (payability ?? []).filter(({ offers }) => offers.length > 0);
  for (const { method, path } of resources) {
    const isSame = (other: Pick<ReportRoute, 'method' | 'path'>) =>
      other.method === method && other.path === path;
    const hasChallenged = challenged.some(isSame);
    const route = routes?.paid.find(isSame);
    // The list of routes was cut or could not be read, so the terms are unknown.
    if (hasChallenged && route === undefined) continue;
    const offers = hasChallenged ? (route?.offers ?? []) : [];
    // The fact `payability` already says that nobody can pay.
    if (offers.length === 0 && payableBy === 'nobody') continue;
    entries.push([`terms ${method} ${path}`, toTermsFact({ method, path }, offers, 'scan')]);
  }
  return entries;
}

function toFact(value: JsonObject, mark: string, rank: number, by: Fact['by'] = 'scan'): Fact {
  return { value, mark, rank, by };
}

function toReachableFact(isReached: boolean, by: Fact['by']): Fact {
  return toFact({ reachable: isReached }, String(isReached), isReached ? 0 : 1, by);
}

function toPayabilityFact(payableBy: PayableBy, by: Fact['by']): Fact {
  return toFact({ payableBy }, payableBy, PAYABLE_BY.indexOf(payableBy), by);
}

/** `pass` and `warn` have one mark, because a change between them is not an event. */
function toCheckFact(
  { id, status, outcome }: Pick<CheckResult, 'id' | 'status' | 'outcome'>,
  by: Fact['by'],
): Fact {
  const isFailed = status === 'fail';
  const value = { id, status, outcome: cleanText(outcome, MAX_TERM_CHARS) };
  return toFact(value, isFailed ? 'failed' : 'holds', isFailed ? 1 : 0, by);
}

/** A missing challenge ranks as worse. Other changes of the terms rank as equal. */
function toTermsFact(
  { method, path }: WatchedResource,
  offers: readonly ReportOffer[],
  by: Fact['by'],
): Fact {
  const terms = offers.map(({ scheme, network, asset, amount, payTo }) => ({
    scheme: toTerm(scheme),
    network: network === null ? null : toTerm(toCaip2(network)),
    asset: toTerm(asset),
    amount: toTerm(amount),
    payTo: toTerm(payTo),
  }));
  const value = { method, path: cleanText(path, MAX_PATH_CHARS), offers: terms };
  return toFact(value, JSON.stringify(terms), offers.length === 0 ? 1 : 0, by);
}

/** The Bazaar listings that nobody has paid for lately. Their mark is the time of the newest settlement. */
function toLapsingFacts({ indexed }: ScanReport, atMs: number): readonly FactEntry[] {
  return indexed.flatMap(({ index, resource, lastSettledAt }) => {
    // NaN if no settlement is known. Then no comparison below holds.
    const lastMs = Date.parse(lastSettledAt ?? '');
    if (index !== 'bazaar' || !(atMs - lastMs >= LAPSING_AFTER_MS)) return [];
    const at = new Date(lastMs).toISOString();
    const lapsesAt = new Date(lastMs + BAZAAR_LISTED_FOR_MS).toISOString();
    const value = { resource: cleanText(resource, MAX_PATH_CHARS), lastSettledAt: at, lapsesAt };
    return [[`listing ${resource}`, toFact(value, at, 0)] as const];
  });
}

/** Returns null for text with characters that reports and preflights escape differently. */
function toTerm(text: string | null): string | null {
  return text !== null && PLAIN_TERM.test(text) ? text.slice(0, MAX_TERM_CHARS) : null;
}
