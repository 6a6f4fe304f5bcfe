/** Makes a report from observations, fresh or recorded. */
import { runChecks, toResults } from '../engine/run-checks.ts';
import { isUnjudged, isUnseen, SCORINGS } from '../engine/score.ts';
import type { IndexedOrigin, Lookup, Observations } from '../model/observations.ts';
import { type OtherWay, PAYABLE_BY, type Payability } from '../model/payability.ts';
import type { BudgetName, CheckResult, ScanReport, Signals } from '../model/report.ts';
import type { ScanAccount } from '../workers/work-account.ts';
import { type ScanEngine, throwIfBroken } from './broken-checks.ts';
import { describeOrigin, readIndexed } from './readers.ts';
import type { ScanOutcome } from './scanner.ts';

export type GradeOptions = {
  /** Budgets of the scan. The default is unlimited, for replays. */
  readonly account?: ScanAccount;
  /** Budgets that the recording marks as spent. */
  readonly exhausted?: readonly BudgetName[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ends judging when it aborts. Checks that are not judged yet get a `limits` verdict. */
  readonly deadline?: AbortSignal | undefined;
};

/**
 * Runs checks and readers, and scores their results. Equal observations give the same report, byte for
 * byte. Throws BrokenChecks if a check breaks even on a good origin.
 */
export async function gradeObservations(
  observations: Observations,
  scannedAt: string,
  engine: ScanEngine,
  options: GradeOptions = {},
): Promise<Omit<ScanOutcome, 'timing' | 'observations' | 'sold'>> {
  const { catalog, checks, pool } = engine;
  const { account = pool.openScan('replay'), signal, deadline } = options;
  for (const name of options.exhausted ?? []) account[name].exhaust();
  const work = { pool, account, signal, deadline };
  const [description, indexed, verdicts] = await Promise.all([
    describeOrigin(observations, work),
    readIndexed(observations, work),
    runChecks({ ...work, catalog, checks, observations }),
  ]);
  await throwIfBroken(verdicts, observations, engine);
  const results = toResults(verdicts, account);
  const { branding, advice, otherWays, routes } = description;
  const summary = toSummary(observations.payability, otherWays, isUnseen({ results }));
  const payment = { ...summary, isUnjudged: isUnjudged({ ...summary, results }) };
  const { score, grade, subScores } = SCORINGS[catalog.scoring](results, payment);
  const exhausted = account.findExhausted();
  const report: ScanReport = {
    origin: observations.origin.url,
    grade,
    score,
    subScores,
    checksVersion: catalog.checksVersion,
    scannedAt,
    ...summary,
    otherWays,
    advice,
    routes,
    indexed,
    results,
    ...(exhausted.length > 0 ? { exhausted } : {}),
  };
  return { report, branding, signals: toSignals(results, observations.x402scan) };
}

function toSignals(results: readonly CheckResult[], x402scan: Lookup<IndexedOrigin>): Signals {
  const passes = results.filter(({ status, basis }) => status === 'pass' && basis === 'measured');
  const isPassed = (id: string) => passes.some((result) => result.id === id);
  return {
    registeredIndex: isPassed('D1'),
    // An unobserved settlement does not prove that there is none, so interface spec 2.3 has no false here.
    hasRecentSettlement: isPassed('D3') ? true : null,
    indexOwnershipVerified: x402scan.state === 'seen' && x402scan.data.ownershipVerified === true,
    onEcosystemListing: isPassed('D5'),
  };
}

const NO_CHALLENGE = { payableBy: 'nobody', words: 'no challenge was seen', offers: [] } as const;

/**
 * `payability` is null if the release that scanned had no official clients. Older recordings count a resource as silent
 * that sells only over another protocol; the summary leaves it out. If `isUnseen`, no challenge could be judged, so
 * nobody knows who can pay.
 */
export function toSummary(
  payability: Payability | null,
  otherWays: readonly OtherWay[] = [],
  isUnseen = false,
): Pick<ScanReport, 'payability' | 'payableBy' | 'clients'> {
  if (payability === null) return { payability: null, payableBy: 'unknown', clients: [] };
  const { resources, clients } = payability;
  const ignoredWays = resources.length > 0 ? otherWays : [];
  const silent = payability.silent.filter(
    ({ method, path }) => !ignoredWays.some((way) => way.method === method && way.path === path),
  );
  const all = [...resources, ...silent.map((request) => ({ ...request, ...NO_CHALLENGE }))];
  const best = PAYABLE_BY.find((name) => resources.some(({ payableBy }) => payableBy === name));
  return { payability: all, payableBy: best ?? (isUnseen ? 'unknown' : null), clients };
}
