/** Pins every catalog with its check files again. This is allowed only before the release that contains them. */
import { readFile } from 'node:fs/promises';
import {
  listCatalogs,
  loadCatalog,
  readCatalog,
  readPublished,
} from '../../src/engine/catalog/catalog.ts';
import { publishedChecks } from '../lint/published-unchanged.ts';
import { ToolUsageError } from './tool-usage-error.ts';
import { type CatalogFiles, pinCatalogs, writeCatalog } from './write-catalog.ts';

export type Release = {
  /** Version of package.json: "0.3.0". */
  readonly version: string;
  /** Text of CHANGELOG.md, in which each release has a heading. */
  readonly changelog: string;
};

/** Reads the checkout's version and changelog. */
export async function readRelease(root: URL): Promise<Release> {
  const manifest: unknown = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  const changelog = await readFile(new URL('CHANGELOG.md', root), 'utf8');
  const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return { version: hasVersion ? String(manifest.version) : '', changelog };
}

/** Returns the implementations whose digest changed. Throws ToolUsageError if the version is released. */
export async function repinCatalogs(
  files: CatalogFiles,
  { version, changelog }: Release,
): Promise<readonly string[]> {
  if (changelog.split('\n').some((line) => line.startsWith(`## ${version}`))) {
    throw new ToolUsageError(
      `${version} is released (CHANGELOG.md): published is published; npm run check:revise -- <ID>`,
    );
  }
  const digests = new Map(files.checks.map(({ impl, digest }) => [impl, digest]));
  const { catalogs } = await readPublished(files.folder);
  const before = await publishedChecks(files.folder);
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
  const after = await publishedChecks(files.folder);
  return [...after].flatMap(([impl, digest]) => (before.get(impl) === digest ? [] : [impl]));
}
