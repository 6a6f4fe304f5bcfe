/** Pins every catalog with its check files again. This is allowed only before the first release. */
import { readFile } from 'node:fs/promises';
import {
  listCatalogs,
  loadCatalog,
  readCatalog,
  readPublished,
} from '../../src/scanner/engine/catalog/catalog.ts';
import { listReleases, readPublishedChecks } from '../lint/published-unchanged.ts';
import { ToolUsageError } from './tool-usage-error.ts';
import { type CatalogFiles, pinCatalogs, writeCatalog } from './write-catalog.ts';

/** Reads the versions that CHANGELOG.md says are released. */
export async function readReleases(root: URL): Promise<readonly string[]> {
  return listReleases(await readFile(new URL('CHANGELOG.md', root), 'utf8'));
}

/** Returns the implementations whose digest changed. Throws ToolUsageError after a release. */
export async function repinCatalogs(
  files: CatalogFiles,
  releases: readonly string[],
): Promise<readonly string[]> {
  if (releases.length > 0) {
    throw new ToolUsageError(
      `${releases.join(', ')} is released (CHANGELOG.md): published is published; npm run check:revise -- <ID>`,
    );
  }
  const digests = new Map(files.checks.map(({ impl, digest }) => [impl, digest]));
  const { catalogs } = await readPublished(files.folder);
  const before = await readPublishedChecks(files.folder);
  // We remove the pins first, because a changed catalog that is pinned does not load.
  await pinCatalogs({}, files.folder);
  for (const name of await listCatalogs(files.folder)) {
    const { catalog } = await readCatalog(name, files.folder);
    const entries = catalog.checks.map((entry) => {
      return { ...entry, digest: digests.get(entry.impl) ?? entry.digest };
    });
    await writeCatalog({ ...catalog, checks: entries }, files.folder);
    await loadCatalog(name, files);
  }
  const pinned = await Promise.all(
    Object.keys(catalogs).map(async (name) => {
      return [name, (await readCatalog(name, files.folder)).digest] as const;
    }),
  );
  await pinCatalogs(Object.fromEntries(pinned), files.folder);
  const after = await readPublishedChecks(files.folder);
  return [...after].flatMap(([impl, digest]) => (before.get(impl) === digest ? [] : [impl]));
}
