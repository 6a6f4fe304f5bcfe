/** The engine of one call. Its types are not exported, so no declaration of the package may name them. */
import { listCatalogs, loadCatalog } from '../../engine/catalog/catalog.ts';
import { discoverChecks } from '../../engine/catalog/discover-checks.ts';
import { createPool } from '../../engine/judging-pool.ts';

/** Catalog, checks and worker threads, which end with `close`. */
export async function openEngine(checksVersion: string | undefined) {
  const versions = await listCatalogs();
  const wanted = checksVersion ?? versions.at(-1);
  if (wanted === undefined || !versions.includes(wanted)) {
    throw new Error(`checksVersion ${wanted}: there are ${versions.join(', ')}`);
  }
  const checks = await discoverChecks();
  const catalog = await loadCatalog(wanted, { checks });
  const pool = createPool();
  // Reports do not show branding.
  const withBranding = false;
  return { catalog, checks, pool, withBranding, close: () => pool.close() };
}
