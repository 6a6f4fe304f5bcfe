/** The engine as the command line starts it: catalog, checks and workers. */
import { type Catalog, listCatalogs, loadCatalog } from '../engine/catalog/catalog.ts';
import { type DiscoveredCheck, discoverChecks } from '../engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../engine/pool/pool.ts';
import { warmPool } from '../scan/warm-pool.ts';
import { UsageError } from './usage-error.ts';

export type Engine = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
};

/** Throws UsageError where there is no such catalog. The caller closes the pool. */
export async function startEngine(checksVersion: string | null): Promise<Engine> {
  const versions = await listCatalogs();
  const wanted = checksVersion ?? versions.at(-1);
  if (wanted === undefined || !versions.includes(wanted)) {
    throw new UsageError(`--checks-version ${wanted}: there are ${versions.join(', ')}`);
  }
  // One scan needs one thread: each loads all of them anew.
  const cold = createPool({ threads: 1 });
  // It boots while the checks are found, and warms up while the origin is asked.
  cold.start();
  try {
    const checks = await discoverChecks();
    const catalog = await loadCatalog(wanted, { checks });
    const pool = warmPool({ catalog, checks, pool: cold });
    pool.start();
    return { catalog, checks, pool };
  } catch (error) {
    await cold.close();
    throw error;
  }
}
