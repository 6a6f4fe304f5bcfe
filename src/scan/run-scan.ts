/** Turns an origin into a graded report, without any host, store or payment. */

import type { Oracle } from '../buyers/create-oracle.ts';
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { OriginRefused } from '../guard/errors.ts';
import type { Limits } from '../guard/limits.ts';
import type { Origin, OriginPolicy } from '../guard/origin.ts';
import type { Resolver } from '../guard/resolve.ts';
import type { Failed } from '../model/observation.ts';
import type { ScanTiming } from '../model/report.ts';
import type { Standing } from '../model/standing.ts';
import type { CreateProbeClient, ProbeClient } from '../probe/client/client.ts';
import { RequestCache } from '../probe/client/request-cache.ts';
import type { ScanAccount } from '../workers/work-account.ts';
import type { RecordedScan, RecordInput } from './finished-scan.ts';
import { gradeObservations } from './grade-observations.ts';
import { gatherDocuments, gatherPlanned, planRequests, type ScanStage } from './observe.ts';
import type { McpOptions } from './observe-tools.ts';
import { type WorkModule, workOn } from './origin-work.ts';
import {
  type OriginScanOptions,
  type Scanner,
  ScannerFailure,
  type ScanOutcome,
} from './scanner.ts';

/** A scan ends within 70 s; the rest is for judging. */
const GATHER_DEADLINE_MS = 55_000;
/** Planning gets this long after a late answer: a slow origin is a finding, not an abort. */
const PLAN_MS = 5_000;
const JUDGE_DEADLINE_MS = 69_000;
const MIN_JUDGE_MS = 1_000;
const RECORD_MS = 10_000;
const RECORD_MODULE: WorkModule<typeof import('./finished-scan.ts')> = new URL(
  './finished-scan.ts',
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
  readonly onStage?: (stage: ScanStage) => void;
  /** Overrides of the default limits. */
  readonly limits?: Partial<Limits>;
  /** Additional trusted roots, PEM. */
  readonly extraCa?: readonly string[];
  /** Also calls the paid tools of an MCP endpoint; command line only. */
  readonly mcp?: McpOptions | undefined;
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

/** The pipeline: gathers what the site says, plans the requests for what it sells, gathers those, judges and scores. */
async function runScan(
  origin: Origin,
  options: ScannerOptions,
  { signal, hasRecord = false, census }: OriginScanOptions,
): Promise<ScanOutcome> {
  const opened = await openScan(options, signal);
  try {
    const client = await clientFor(origin, opened.client, hasRecord);
    const scan = { ...options, ...opened, origin, census, cache: new RequestCache(client, origin) };
    const documents = await gatherDocuments(scan);
    const planned = await planRequests(documents, scan);
    const observations = await gatherPlanned(documents, planned, scan);
    const limits = opened.startJudging();
    const graded = await gradeObservations(observations, opened.scannedAt, options, limits);
    refuseUnserved(limits.account);
    return { ...graded, timing: opened.timing(), observations };
  } catch (error) {
    throw signal?.aborted ? error : toFailure(error);
  } finally {
    await opened.close();
  }
}

/** Opens the client and the budgets of a scan, and starts its deadlines. */
async function openScan(options: ScannerOptions, signal: AbortSignal | undefined) {
  const { catalog, pool, gatherDeadlineMs = GATHER_DEADLINE_MS } = options;
  const scannedAt = new Date().toISOString();
  const began = performance.now();
  const sinceStartMs = () => performance.now() - began;
  const gathering = deadlineAfter(gatherDeadlineMs);
  const planning = deadlineAfter(gatherDeadlineMs + PLAN_MS);
  const deadlines = [gathering, planning];
  let gatherMs = 0;
  // The threads load while the first documents are requested.
  pool.start();
  const ends = [gathering.signal, ...(signal ? [signal] : [])];
  const client = await openClient(options, AbortSignal.any(ends));
  const account = pool.openScan();
  return {
    scannedAt,
    client,
    probing: catalog.probing,
    work: { pool, account, signal, deadline: planning.signal },
    startJudging() {
      gatherMs = sinceStartMs();
      signal?.throwIfAborted();
      const leftMs = Math.max(MIN_JUDGE_MS, Math.round(JUDGE_DEADLINE_MS - sinceStartMs()));
      const judging = deadlineAfter(leftMs);
      deadlines.push(judging);
      return { account, signal, deadline: judging.signal };
    },
    timing(): ScanTiming {
      const totalMs = sinceStartMs();
      const { requests, roundTrips } = client.stats();
      return { gatherMs, judgeMs: totalMs - gatherMs, totalMs, requests, roundTrips };
    },
    async close(): Promise<void> {
      for (const deadline of deadlines) deadline.clear();
      await client.close();
    },
  };
}

/** A scan that timed out in the queue with almost no work done was delayed by us. */
function refuseUnserved(account: ScanAccount): void {
  if (!account.origin.isSpent() || !account.isLight()) return;
  throw new ScannerFailure(
    'The scan did not get its turn in time: this instance is overloaded. Try again later.',
  );
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

/** The client that may ask the origin. Throws OriginRefused. */
async function clientFor(
  origin: Origin,
  client: ProbeClient,
  hasRecord: boolean,
): Promise<Pick<ProbeClient, 'request'>> {
  if (!(await isBlocked(client, origin))) return client;
  if (!hasRecord) throw toRefusal(origin);
  return NOT_DIALLED;
}

function toRefusal({ host }: Origin): OriginRefused {
  return new OriginRefused(
    'blocked_ip',
    `${host} resolves to an address that is not on the public internet: give a public host.`,
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

function toFailure(error: unknown): Error {
  if (error instanceof OriginRefused || error instanceof ScannerFailure) return error;
  const detail = error instanceof Error ? error.message : typeof error;
  return new ScannerFailure(`The scan failed on our side: ${detail}`, { cause: error });
}

type Deadline = {
  readonly signal: AbortSignal;
  /** Releases the timer; the signal is never aborted after that. */
  clear(): void;
};

/**
 * Aborts after `ms` with a TimeoutError. The timer of `AbortSignal.timeout` cannot be cleared and would
 * hold its listeners, 17 KiB a scan, long after the scan.
 */
export function deadlineAfter(ms: number): Deadline {
  const controller = new AbortController();
  const expire = () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(expire, ms).unref();
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
