import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { UsageError } from './usage.ts';

export type Engine = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
  /** Commands do not show branding. */
  readonly withBranding: false;
};

/** More threads do not speed up one scan: each loads all checks. */
const THREADS = 2;

/** Throws UsageError where there is no such catalog. The caller closes the pool. */
export async function startEngine(checksVersion: string | null): Promise<Engine> {
  const pool = await bootPool();
  try {
    return await openEngine(pool, checksVersion);
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

/** The threads load the checks while the caller goes on. Throws UsageError where there is no such catalog. */
export async function openEngine(pool: Pool, checksVersion: string | null): Promise<Engine> {
  const { listCatalogs, loadCatalog } = await import('../engine/catalog/catalog.ts');
  const { discoverChecks } = await import('../engine/catalog/discover-checks.ts');
  const versions = await listCatalogs();
  const wanted = checksVersion ?? versions.at(-1);
  if (wanted === undefined || !versions.includes(wanted)) {
    throw new UsageError(`--checks-version ${wanted}: there are ${versions.join(', ')}`);
  }
  const checks = await discoverChecks();
  const catalog = await loadCatalog(wanted, { checks });
  const impls = new Set(catalog.checks.map(({ impl }) => impl));
  void pool.start(checks.filter(({ impl }) => impls.has(impl)).map(({ url }) => url));
  return { catalog, checks, pool, withBranding: false };
}
