import type { Catalog } from '../scanner/engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../scanner/engine/catalog/discover-checks.ts';
import type { Pool } from '../scanner/engine/judging-pool.ts';
import { SERVICE_CHECKS_VERSION } from '../scanner/model/report.ts';
import type { Recording } from '../scanner/probe/recording.ts';
import { UsageError } from './usage.ts';

export type Engine = {
  readonly catalog: Catalog;
  /** The catalog by which commands judge if no flag names another one. */
  readonly newestVersion: string;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
};

/** A second thread would slow one scan, because each thread loads all checks (docs/speed.md). */
const THREADS = 1;

/** A user who gives `--checks-version` this value gets SERVICE_CHECKS_VERSION. */
const SERVICE_KEYWORD = 'service';

/**
 * Throws UsageError if there is no catalog `checksVersion`; null stands for the newest, "service" for the service's.
 * The caller closes the pool.
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

/** Starts a pool, which the caller closes. Its threads boot while the caller loads its other modules. */
export async function bootPool(): Promise<Pool> {
  const { createPool } = await import('../scanner/engine/judging-pool.ts');
  const pool = createPool({ threads: THREADS });
  // Nobody has to wait: each task waits for its thread. `start` never rejects.
  void pool.start();
  return pool;
}

/** Loads catalog and checks, here and on the threads of the pool. Throws like `startEngine`. */
export async function openEngine(
  pool: Pool,
  checksVersion: string | null,
  optionName = '--checks-version',
): Promise<Engine> {
  const { listCatalogs, loadCatalog } = await import('../scanner/engine/catalog/catalog.ts');
  const { discoverChecks } = await import('../scanner/engine/catalog/discover-checks.ts');
  const versions = await listCatalogs();
  const { version, newestVersion } = chooseVersion(versions, checksVersion, optionName);
  const checks = await discoverChecks();
  const catalog = await loadCatalog(version, { checks });
  const impls = new Set(catalog.checks.map(({ impl }) => impl));
  void pool.start(checks.filter(({ impl }) => impls.has(impl)).map(({ url }) => url));
  return { catalog, newestVersion, checks, pool };
}

/** The newest of `versions` is the last. Throws UsageError if the wanted version is none of them. */
export function chooseVersion(
  versions: readonly string[],
  checksVersion: string | null,
  optionName: string,
) {
  const newestVersion = versions.at(-1) ?? 'none';
  const version =
    checksVersion === SERVICE_KEYWORD ? SERVICE_CHECKS_VERSION : (checksVersion ?? newestVersion);
  if (versions.includes(version)) return { version, newestVersion };
  const choices = [...versions, SERVICE_KEYWORD].join(', ');
  throw new UsageError(`${optionName} ${version}: there are ${choices}`);
}

/** Judges a recording by the engine's catalog. Rejects if our own code fails, or with the signal's reason. */
export async function judgeRecording(
  { observations, scannedAt, exhausted }: Recording,
  engine: Engine,
  signal?: AbortSignal,
) {
  const { limitToCatalog } = await import('../scanner/probe/recording.ts');
  const { gradeObservations } = await import('../scanner/scan/grade-observations.ts');
  const judgedObservations = limitToCatalog(observations, engine.catalog.probing);
  const options = { exhausted, signal };
  const judgement = await gradeObservations(judgedObservations, scannedAt, engine, options);
  return { ...judgement, observations: judgedObservations };
}
