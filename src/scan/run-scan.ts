/** Turns an origin into a graded report, without any host, store or payment. */

import type { Oracle } from '../buyers/create-oracle.ts';
import { toSummary } from '../buyers/summary.ts';
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import { type Judged, judgeAll, toResults } from '../engine/judge.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { SCORINGS } from '../engine/score.ts';
import { OriginRefused } from '../guard/errors.ts';
import type { Limits } from '../guard/limits.ts';
import type { Origin, OriginPolicy } from '../guard/origin.ts';
import type { Resolver } from '../guard/resolve.ts';
import type { Failed } from '../model/observation.ts';
import type { Observations } from '../model/observations.ts';
import type { BudgetName, ScanOutcome, ScanReport, ScanTiming } from '../model/report.ts';
import type { Standing } from '../model/standing.ts';
import type { CreateProbeClient, ProbeClient } from '../probe/client/client.ts';
import type { ScanAccount } from '../workers/work-account.ts';
import { deadlineAfter } from './deadline.ts';
import { observe, type Stage } from './observe.ts';
import type { McpWanted } from './observe-tools.ts';
import { type WorkModule, workOn } from './origin-work.ts';
import { plainBranding } from './plain-branding.ts';
import { readBranding } from './read-branding.ts';
import { readIndexed } from './read-indexed.ts';
import { readRemarks } from './read-remarks.ts';
import { readRoutes } from './read-routes.ts';
import type { RecordedScan, RecordInput } from './record-observations.ts';
import { type Scanner, ScannerFailure, type ScanOptions } from './scanner.ts';
import { toSignals } from './signals.ts';

/** A scan ends within 70 s; the rest is for judging. */
const GATHER_DEADLINE_MS = 55_000;
/** Planning gets this long after a late answer: a slow origin is a finding, not an abort. */
const PLAN_MS = 5_000;
const JUDGE_DEADLINE_MS = 69_000;
const MIN_JUDGE_MS = 1_000;
const RECORD_MS = 10_000;
const RECORD_MODULE: WorkModule<typeof import('./record-observations.ts')> = new URL(
  './record-observations.ts',
  import.meta.url,
);

export type ScannerOptions = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
  readonly policy: OriginPolicy;
  readonly standing: Standing;
  readonly userAgent: string;
  /** Default: probes run on this thread, which waits for their processor work. */
  readonly createClient?: CreateProbeClient;
  /** Returns true when the running scans leave no memory for another; default never. */
  readonly isSaturated?: () => boolean;
  readonly resolver?: Resolver;
  /** Runs the official clients on the challenges; absent, none is run. */
  readonly oracle?: Oracle;
  /** Reads the texts and images of the directory listing; default true. */
  readonly withBranding?: boolean;
  readonly onStage?: (stage: Stage) => void;
  /** Overrides of the default limits. */
  readonly limits?: Partial<Limits>;
  /** Additional trusted roots, PEM. */
  readonly extraCa?: readonly string[];
  /** Also calls the paid tools of an MCP endpoint; command line only. */
  readonly mcp?: McpWanted | undefined;
  /** Milliseconds from the start until unanswered requests count as silent; default 55,000. */
  readonly gatherDeadlineMs?: number;
};

export function createScanner(options: ScannerOptions): Scanner {
  return {
    checksVersion: options.catalog.checksVersion,
    admit: async (origin) => {
      const client = await openClient(options);
      try {
        if (await isBlocked(client, origin)) throw toRefusal(origin);
      } finally {
        await client.close();
      }
    },
    scan: (origin, wanted = {}) => runScan(origin, options, wanted),
    record: (scan) => record(scan, options),
    isSaturated: () => options.isSaturated?.() ?? false,
    close: async () => {
      await Promise.all([options.pool.close(), options.oracle?.close()]);
    },
  };
}

async function runScan(
  origin: Origin,
  options: ScannerOptions,
  { signal, hasRecord = false }: ScanOptions,
): Promise<ScanOutcome> {
  const {
    catalog,
    pool,
    standing,
    oracle,
    onStage,
    mcp,
    gatherDeadlineMs = GATHER_DEADLINE_MS,
  } = options;
  const scannedAt = new Date().toISOString();
  const began = performance.now();
  const gathering = deadlineAfter(gatherDeadlineMs);
  const planning = deadlineAfter(gatherDeadlineMs + PLAN_MS);
  const gatherSignal = signal ? AbortSignal.any([gathering.signal, signal]) : gathering.signal;
  // The threads load while the first documents are requested.
  pool.start();
  const client = await openClient(options, gatherSignal);
  const account = pool.openScan();
  try {
    const blocked = await isBlocked(client, origin);
    if (blocked && !hasRecord) throw toRefusal(origin);
    const observations = await observe(origin, {
      client: blocked ? NOT_DIALLED : client,
      standing,
      probing: catalog.probing,
      userAgent: options.userAgent,
      work: { pool, account, signal, deadline: planning.signal },
      oracle,
      onStage,
      mcp,
    });
    const gatherMs = performance.now() - began;
    signal?.throwIfAborted();
    const left = Math.max(MIN_JUDGE_MS, Math.round(JUDGE_DEADLINE_MS - gatherMs));
    const judging = deadlineAfter(left);
    const limits = { account, signal, deadline: judging.signal };
    const judged = await judge(observations, scannedAt, options, limits).finally(judging.clear);
    if (account.origin.isSpent() && account.isLight()) throw new ScannerFailure(OVERLOADED);
    const totalMs = performance.now() - began;
    const judgeMs = totalMs - gatherMs;
    const timing: ScanTiming = { gatherMs, judgeMs, totalMs, ...readCosts(client) };
    return { ...judged, timing, observations };
  } catch (error) {
    if (error instanceof OriginRefused || error instanceof ScannerFailure || signal?.aborted)
      throw error;
    throw new ScannerFailure(`The scan failed on our side: ${describe(error)}`, { cause: error });
  } finally {
    gathering.clear();
    planning.clear();
    await client.close();
  }
}

/** A scan that timed out in the queue with almost no work done was delayed by us. */
const OVERLOADED =
  'The scan did not get its turn in time: this host is overloaded. Try again later.';

export type JudgeOptions = {
  /** Default: unlimited, for replays. */
  readonly account?: ScanAccount;
  /** Budgets that the recording marks as spent. */
  readonly exhausted?: readonly BudgetName[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ends judging; checks that are not judged by then get a `limits` verdict. */
  readonly deadline?: AbortSignal | undefined;
};

/**
 * Judges observations, fresh or recorded; equal ones give the same report, byte for byte. Throws
 * BrokenChecks when a check throws on any input.
 */
export async function judge(
  observations: Observations,
  scannedAt: string,
  engine: Pick<ScannerOptions, 'catalog' | 'checks' | 'pool' | 'withBranding'>,
  options: JudgeOptions = {},
): Promise<Omit<ScanOutcome, 'timing' | 'observations'>> {
  const { catalog, checks, pool, withBranding = true } = engine;
  const { account = pool.openScan('replay'), exhausted: recorded = [], signal, deadline } = options;
  for (const name of recorded) account[name].exhaust();
  const work = { pool, account, signal, deadline };
  const [branding, { advice, otherWays }, routes, indexed, judged] = await Promise.all([
    withBranding ? readBranding(observations, work) : plainBranding(observations.origin.host),
    readRemarks(observations, work),
    readRoutes(observations, work),
    readIndexed(observations, work),
    judgeAll({ ...work, catalog, checks, observations }),
  ]);
  if (seemsBroken(judged, observations)) {
    const { tryAll } = await import('./warm-up.ts');
    await tryAll({ catalog, checks, pool });
  }
  const results = toResults(judged, account);
  const summary = toSummary(observations.payability, otherWays);
  const { score, grade, subScores } = SCORINGS[catalog.scoring](results, summary.payableBy);
  const exhausted = account.exhausted();
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

/** Uses an account of its own, because the time for recording must not count against the scan's budgets. */
async function record(
  scan: RecordInput,
  { pool }: Pick<ScannerOptions, 'pool'>,
): Promise<RecordedScan | null> {
  const deadline = deadlineAfter(RECORD_MS);
  const work = { pool, account: pool.openScan('replay'), deadline: deadline.signal };
  try {
    const worked = await workOn(work, 'origin', RECORD_MODULE, 'recordObservations', scan);
    return worked.ok ? worked.output : null;
  } catch {
    // The report is complete without its digest, so the failure is ignored.
    return null;
  } finally {
    deadline.clear();
  }
}

/** A defect on this origin alone is a finding; a defect on any origin invalidates the report. */
function seemsBroken(judged: readonly Judged[], { resources }: Observations): boolean {
  const isFault = judged.some(({ verdict }) => verdict.outcome === 'fault');
  return isFault || resources.planFailure !== undefined;
}

async function openClient(options: ScannerOptions, signal?: AbortSignal): Promise<ProbeClient> {
  const { policy, userAgent, resolver, limits, extraCa } = options;
  // A replay sends no request, and services probe on a thread of their own.
  const createClient =
    options.createClient ?? (await import('../probe/client/client.ts')).createProbeClient;
  return createClient({
    policy,
    userAgent,
    ...(signal ? { signal } : {}),
    ...(resolver ? { resolver } : {}),
    ...(limits ? { limits } : {}),
    ...(extraCa ? { extraCa } : {}),
  });
}

/** Returns true when the guard refuses the host. Throws ScannerFailure when that cannot be determined. */
async function isBlocked(client: Pick<ProbeClient, 'check'>, origin: Origin): Promise<boolean> {
  const resolved = await client.check(origin);
  if (resolved.kind === 'our-fault') {
    throw new ScannerFailure(`Our resolver does not answer: ${resolved.detail}. Try again later.`);
  }
  return resolved.kind === 'blocked';
}

function toRefusal({ host }: Origin): OriginRefused {
  return new OriginRefused(
    'blocked_ip',
    `${host} does not resolve to addresses of the public internet alone: give a public host.`,
  );
}

const BLOCKED: Failed = {
  ok: false,
  reason: 'blocked-address',
  detail: 'its name resolves to an address that is not on the public internet: nothing was asked',
  ms: 0,
};
/** Replaces the client when the guard refuses the host of a published record. */
const NOT_DIALLED: Pick<ProbeClient, 'request'> = { request: async () => BLOCKED };

function readCosts(client: Pick<ProbeClient, 'stats'>) {
  const { requests, roundTrips } = client.stats();
  return { requests, roundTrips };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : typeof error;
}
