/** The engine as the command line starts it: catalog, checks and workers. */
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../engine/pool/pool.ts';
import { UsageError } from './usage-error.ts';

export type Engine = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
};

/**
 * The thread boots at once, and loads the checks while the caller loads the rest of itself. Throws
 * UsageError where there is no such catalog. The caller closes the pool.
 */
export async function startEngine(checksVersion: string | null): Promise<Engine> {
  // One scan needs one thread: each loads all of them anew.
  const pool = createPool({ threads: 1 });
  try {
    // What is loaded here before that would hold its boot up.
    await pool.start();
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
    await pool.start(checks.filter(({ impl }) => impls.has(impl)).map(({ url }) => url));
    return { catalog, checks, pool };
  } catch (error) {
    await pool.close();
    throw error;
  }
}
