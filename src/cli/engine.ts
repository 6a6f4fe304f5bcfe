import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import type { Pool } from '../engine/judging-pool.ts';
import type { Recording } from '../probe/recording.ts';
import { UsageError } from './usage.ts';

export type Engine = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
  /** Commands do not show branding. */
  readonly withBranding: false;
};

/** More threads do not speed up one scan, because each thread loads all checks. */
const THREADS = 2;

/**
 * Throws UsageError if there is no catalog `checksVersion`; null stands for the newest. The caller closes the pool.
 * @param optionName the flag or option that set `checksVersion`; the error message begins with it
 */
export async function startEngine(
  checksVersion: string | null,
  optionName = '--checks-version',
): Promise<Engine> {
  const pool = await bootPool();
  try {
    return await openEngine(pool, checksVersion, optionName);
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** The threads boot while the caller loads its other modules. */
export async function bootPool(): Promise<Pool> {
  const { createPool } = await import('../engine/judging-pool.ts');
  const pool = createPool({ threads: THREADS });
  void pool.start();
  return pool;
}

/** The threads load the checks while the caller goes on. Throws like `startEngine`. */
export async function openEngine(
  pool: Pool,
  checksVersion: string | null,
  optionName = '--checks-version',
): Promise<Engine> {
  const { listCatalogs, loadCatalog } = await import('../engine/catalog/catalog.ts');
  const { discoverChecks } = await import('../engine/catalog/discover-checks.ts');
  const versions = await listCatalogs();
  const version = checksVersion ?? versions.at(-1);
  if (version === undefined || !versions.includes(version)) {
    throw new UsageError(`${optionName} ${version}: there are ${versions.join(', ')}`);
  }
  const checks = await discoverChecks();
  const catalog = await loadCatalog(version, { checks });
  const impls = new Set(catalog.checks.map(({ impl }) => impl));
  void pool.start(checks.filter(({ impl }) => impls.has(impl)).map(({ url }) => url));
  return { catalog, checks, pool, withBranding: false };
}

/** Judges a recording by the engine's catalog. Rejects if our own code fails, or with the signal's reason. */
export async function judgeRecording(
  { observations, scannedAt, exhausted }: Recording,
  engine: Engine,
  signal?: AbortSignal,
) {
  const { limitToCatalog } = await import('../probe/recording.ts');
  const { gradeObservations } = await import('../scan/grade-observations.ts');
  const judgedObservations = limitToCatalog(observations, engine.catalog.probing);
  const judgement = await gradeObservations(judgedObservations, scannedAt, engine, {
    exhausted,
    signal,
  });
  return { ...judgement, observations: judgedObservations };
}
