/** The pipeline: an origin in, a graded report out. Knows no host, no store and no payment. */
import { randomUUID } from 'node:crypto';
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import { judgeAll } from '../engine/judge.ts';
import type { Pool } from '../engine/pool/pool.ts';
import { SCORINGS } from '../engine/score.ts';
import type { Observations } from '../model/observations.ts';
import type { ScanReport } from '../model/report.ts';
import type { ScanOutcome, ScanTiming } from '../model/scan-outcome.ts';
import type { Standing } from '../model/standing.ts';
import { OriginRefused } from '../origin/errors.ts';
import type { Origin, OriginPolicy } from '../origin/origin.ts';
import type { Resolver } from '../origin/resolve.ts';
import { createProbeClient } from '../probe/client/client.ts';
import type { Limits } from '../probe/client/limits.ts';
import { type GatherParts, gather } from '../probe/gather.ts';
import { createPlanner } from './planner.ts';
import { readBranding } from './read-branding.ts';
import { type Scanner, ScannerFailure } from './scanner.ts';
import { signalsOf } from './signals.ts';

/** A scan ends 70 s after it began; judging what was gathered takes the rest. */
const GATHER_DEADLINE_MS = 55_000;
const SCAN_DEADLINE_MS = 70_000;
const MIN_JUDGE_MS = 1_000;

export type ScannerParts = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
  readonly policy: OriginPolicy;
  readonly standing: Standing;
  readonly userAgent: string;
  readonly resolver?: Resolver;
  readonly onStage?: GatherParts['onStage'];
  /** Where they differ from the defaults. */
  readonly limits?: Partial<Limits>;
  /** Further trusted roots, PEM. */
  readonly extraCa?: readonly string[];
  /** From its beginning on until what was not answered counts as silent; default 55,000. */
  readonly gatherDeadlineMs?: number;
};

export function createScanner(parts: ScannerParts): Scanner {
  return {
    checksVersion: parts.catalog.checksVersion,
    admit: async (origin) => {
      const client = createProbeClient(clientOptions(parts));
      try {
        await refuseBlocked(client, origin);
      } finally {
        await client.close();
      }
    },
    scan: (origin, options = {}) => runScan(origin, parts, options.signal),
    close: () => parts.pool.close(),
  };
}

async function runScan(
  origin: Origin,
  parts: ScannerParts,
  signal: AbortSignal | undefined,
): Promise<ScanOutcome> {
  const scannedAt = new Date().toISOString();
  const began = performance.now();
  const { gatherDeadlineMs = GATHER_DEADLINE_MS } = parts;
  const gatherSignal = anySignal(AbortSignal.timeout(gatherDeadlineMs), signal);
  const client = createProbeClient({ ...clientOptions(parts), signal: gatherSignal });
  try {
    await refuseBlocked(client, origin);
    const observations = await gather(origin, {
      client,
      planner: createPlanner(parts.pool),
      standing: parts.standing,
      probing: parts.catalog.probing,
      ...(parts.onStage ? { onStage: parts.onStage } : {}),
    });
    const gatherMs = performance.now() - began;
    signal?.throwIfAborted();
    const left = Math.max(MIN_JUDGE_MS, Math.round(SCAN_DEADLINE_MS - gatherMs));
    const judged = await judge(
      observations,
      scannedAt,
      parts,
      anySignal(AbortSignal.timeout(left), signal),
    );
    const totalMs = performance.now() - began;
    const { requests, roundTrips } = client.stats();
    const timing: ScanTiming = {
      gatherMs,
      judgeMs: totalMs - gatherMs,
      totalMs,
      requests,
      roundTrips,
    };
    return { ...judged, timing, observations };
  } catch (error) {
    if (error instanceof OriginRefused || error instanceof ScannerFailure || signal?.aborted)
      throw error;
    throw new ScannerFailure(`The scan failed on our side: ${String(error)}`, { cause: error });
  } finally {
    await client.close();
  }
}

/** Judges observations, fresh or recorded: the same ones give the same report, byte for byte. */
export async function judge(
  observations: Observations,
  scannedAt: string,
  parts: Pick<ScannerParts, 'catalog' | 'checks' | 'pool'>,
  signal?: AbortSignal,
): Promise<Omit<ScanOutcome, 'timing' | 'observations'>> {
  const { catalog, checks, pool } = parts;
  const [results, branding] = await Promise.all([
    judgeAll({
      catalog,
      checks,
      observations,
      pool,
      scanKey: randomUUID(),
      ...(signal ? { signal } : {}),
    }),
    readBranding(observations, pool),
  ]);
  const scoring = SCORINGS.get(catalog.scoring);
  if (scoring === undefined)
    throw new ScannerFailure(`${catalog.scoring} is not implemented here.`);
  const { score, grade, subScores } = scoring(results);
  const report: ScanReport = {
    origin: observations.origin.url,
    grade,
    score,
    subScores,
    checksVersion: catalog.checksVersion,
    scannedAt,
    results,
  };
  return { report, branding, signals: signalsOf(results, observations.x402scan) };
}

function clientOptions({ policy, userAgent, resolver, limits, extraCa }: ScannerParts) {
  return {
    policy,
    userAgent,
    ...(resolver ? { resolver } : {}),
    ...(limits ? { limits } : {}),
    ...(extraCa ? { extraCa } : {}),
  };
}

async function refuseBlocked(
  client: ReturnType<typeof createProbeClient>,
  origin: Origin,
): Promise<void> {
  const resolved = await client.check(origin);
  if (resolved.kind === 'blocked') {
    throw new OriginRefused(
      'blocked_ip',
      `${origin.host} resolves to ${resolved.address}, which is not on the public internet: give a public host.`,
    );
  }
  if (resolved.kind === 'our-fault') {
    throw new ScannerFailure(`Our resolver does not answer: ${resolved.detail}. Try again later.`);
  }
}

function anySignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}
