/** Turns an origin into a graded report. Knows no store and no payment. */

import { OriginRefused } from '../guard/failures.ts';
import type { Origin } from '../guard/origin.ts';
import type { FailedObservation } from '../model/observation.ts';
import type { ScanTiming } from '../model/report.ts';
import type { CreateProbeClient, ProbeClient, ProbeClientOptions } from '../probe/client/client.ts';
import { RequestCache } from '../probe/client/request-cache.ts';
import type { ScanAccount } from '../workers/work-account.ts';
import type { ScanEngine } from './broken-checks.ts';
import { gradeObservations } from './grade-observations.ts';
import { type GatheringScan, gatherDocuments, gatherPlanned, planRequests } from './observe.ts';
import { createDeadline, runOnWorker, type WorkModule } from './origin-work.ts';
import type { RecordedScan, RecordInput } from './record-observations.ts';
import {
  type CensusInstructions,
  type OriginScanOptions,
  type Scanner,
  ScannerFailure,
  type ScanOutcome,
} from './scanner.ts';

/** A scan ends within 70 s. The time after this deadline is for judging. */
const GATHER_DEADLINE_MS = 55_000;
/** Time for planning after the last answer, because a slow origin must not abort the scan. */
const PLAN_EXTRA_MS = 5_000;
/** Deadlines move by at most this much if our own queue delayed the scan. */
const MAX_EXTENSION_MS = 6_000;
/** Counted from the start of the scan, as all deadlines above. */
const JUDGE_DEADLINE_MS = 69_000;
/** Judging has at least this time, even if gathering ended late. */
const MIN_JUDGE_MS = 1_000;
const RECORD_TIMEOUT_MS = 10_000;
type RecordModule = typeof import('./record-observations.ts');
const RECORD: WorkModule<RecordModule> = new URL('./record-observations.ts', import.meta.url);

export type ScannerOptions = ScanEngine &
  Pick<GatheringScan, 'standing' | 'clients' | 'onStage' | 'mcp'> &
  Pick<ProbeClientOptions, 'policy' | 'userAgent' | 'resolver' | 'limits' | 'extraCa'> & {
    /** By default probes run on this thread, and their processor work delays it. */
    readonly createClient?: CreateProbeClient;
    /** Returns true if the running scans leave no memory for another scan. Default: never. */
    readonly isSaturated?: () => boolean;
    /** Milliseconds from the start until unanswered requests count as silent; default 55,000. */
    readonly gatherDeadlineMs?: number;
  };

export function createScanner(options: ScannerOptions): Scanner {
  return {
    admit: async (origin) => {
      const client = await openClient(options);
      try {
        if (await isBlocked(client, origin)) throw toRefusal(origin);
      } finally {
        await client.close();
      }
    },
    scan: (origin, scanOptions = {}) => runScan(origin, options, scanOptions),
    record: (scan) => record(scan, options),
    isSaturated: options.isSaturated ?? (() => false),
    close: async () => {
      await Promise.all([options.pool.close(), options.clients?.close()]);
    },
  };
}

/** Runs the pipeline: requests the documents, plans further requests, sends them, judges and scores. */
async function runScan(
  origin: Origin,
  options: ScannerOptions,
  { signal, hasRecord = false, census, scannedAt = new Date().toISOString() }: OriginScanOptions,
): Promise<ScanOutcome> {
  const session = await openSession(options, signal);
  try {
    const chosenClient = await chooseClient(origin, session.client, hasRecord);
    const client = census === undefined ? chosenClient : toCensusClient(census, chosenClient);
    const cache = new RequestCache(client, origin);
    const scan = { ...options, ...session, origin, census, cache };
    const documents = await gatherDocuments(scan);
    const planned = await planRequests(documents, scan);
    const observations = await gatherPlanned(documents, planned, scan);
    const limits = session.startJudging();
    const graded = await gradeObservations(observations, scannedAt, options, limits);
    throwIfOverloaded(limits.account);
    const { sold } = planned.plan;
    return { ...graded, timing: session.timing(), observations, sold };
  } catch (error) {
    // A caller who gave up gets the reason of his own signal.
    throw signal?.aborted ? error : toFailure(error);
  } finally {
    await session.close();
  }
}

/** Opens the client and the budgets of a scan, and starts its deadlines. The caller closes the session. */
async function openSession(options: ScannerOptions, signal: AbortSignal | undefined) {
  const { catalog, pool, gatherDeadlineMs = GATHER_DEADLINE_MS } = options;
  const startedAt = performance.now();
  const sinceStartMs = () => performance.now() - startedAt;
  const account = pool.openScan();
  const extension = { findDelayMs: account.delayedMs, maxExtensionMs: MAX_EXTENSION_MS };
  const gatherDeadline = createDeadline(gatherDeadlineMs, extension);
  const planDeadline = createDeadline(gatherDeadlineMs + PLAN_EXTRA_MS, extension);
  const deadlines = [gatherDeadline, planDeadline];
  let gatherMs = 0;
  // The threads load while the first documents are requested.
  pool.start();
  const signals = [gatherDeadline.signal, ...(signal ? [signal] : [])];
  const client = await openClient(options, AbortSignal.any(signals));
  return {
    client,
    probing: catalog.probing,
    work: { pool, account, signal, deadline: planDeadline.signal },
    /** Ends gathering. Throws if the caller gave up, or if our own queue took time that was the origin's. */
    startJudging() {
      gatherMs = sinceStartMs();
      signal?.throwIfAborted();
      // Requests were ended before the origin had its time.
      if (gatherDeadline.isShortened()) throw createOverload();
      const leftMs = Math.max(MIN_JUDGE_MS, Math.round(JUDGE_DEADLINE_MS - sinceStartMs()));
      const judgeDeadline = createDeadline(leftMs);
      deadlines.push(judgeDeadline);
      return { account, signal, deadline: judgeDeadline.signal };
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

/** Throws if a scan timed out after almost no work. Our own queue has then delayed it. */
function throwIfOverloaded(account: ScanAccount): void {
  if (account.origin.isSpent() && account.isLight()) throw createOverload();
}

function createOverload(): ScannerFailure {
  return new ScannerFailure(
    'The scan did not get its turn in time: this instance is overloaded. Try again later.',
  );
}

/** Uses an account of its own, because the time for recording must not count against the scan's budgets. */
async function record(
  scan: RecordInput,
  { pool }: Pick<ScannerOptions, 'pool'>,
): Promise<RecordedScan | null> {
  const deadline = createDeadline(RECORD_TIMEOUT_MS);
  const work = { pool, account: pool.openScan('replay'), deadline: deadline.signal };
  try {
    const result = await runOnWorker(work, 'origin', RECORD, 'recordObservations', scan);
    return result.ok ? result.output : null;
  } catch {
    // The report is complete without its digest, so the failure is ignored.
    return null;
  } finally {
    deadline.clear();
  }
}

async function openClient(options: ScannerOptions, signal?: AbortSignal): Promise<ProbeClient> {
  const { policy, userAgent, resolver, limits, extraCa } = options;
  // Loaded on demand, because a replay sends no request, and the service passes `createClient`.
  const createClient =
    options.createClient ?? (await import('../probe/client/client.ts')).createProbeClient;
  return createClient({ policy, userAgent, signal, resolver, limits, extraCa });
}

/** True if the guard refuses the host. Throws ScannerFailure if that cannot be determined. */
async function isBlocked(client: ProbeClient, origin: Origin): Promise<boolean> {
  const resolved = await client.resolveOrigin(origin);
  if (resolved.kind === 'our-fault') {
    throw new ScannerFailure(
      `${resolved.detail}: check the network of this machine, and scan again`,
    );
  }
  return resolved.kind === 'blocked';
}

/** Returns the client for requests to the origin. Throws OriginRefused. */
async function chooseClient(
  origin: Origin,
  client: ProbeClient,
  hasRecord: boolean,
): Promise<Pick<ProbeClient, 'request'>> {
  if (!(await isBlocked(client, origin))) return client;
  if (!hasRecord) throw toRefusal(origin);
  return REFUSED_HOST_CLIENT;
}

function toCensusClient(
  { beforeRequest }: CensusInstructions,
  client: Pick<ProbeClient, 'request'>,
): Pick<ProbeClient, 'request'> {
  return {
    async request(request) {
      await beforeRequest();
      return client.request(request);
    },
  };
}

function toRefusal({ host }: Origin): OriginRefused {
  return new OriginRefused(
    'blocked_ip',
    `${host} resolves to an address that is not on the public internet: give a public host.`,
  );
}

const BLOCKED_ANSWER: FailedObservation = {
  ok: false,
  reason: 'blocked-address',
  detail: 'its name resolves to an address that is not on the public internet: nothing was asked',
  ms: 0,
};
/** Replaces the client if the guard refuses the host of a published record. */
const REFUSED_HOST_CLIENT: Pick<ProbeClient, 'request'> = { request: async () => BLOCKED_ANSWER };

function toFailure(error: unknown): Error {
  if (error instanceof OriginRefused || error instanceof ScannerFailure) return error;
  const detail = error instanceof Error ? error.message : typeof error;
  return new ScannerFailure(`The scan failed on our side: ${detail}`, { cause: error });
}
