/** Catalog files: each is derived from the previous one, refreshed until it is published, then pinned. */
import { readFile, writeFile } from 'node:fs/promises';
import {
  type Catalog,
  type CatalogCheck,
  listCatalogs,
  loadCatalog,
  type Published,
  readCatalog,
  readPublished,
} from '../../src/scanner/engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { readPublishedChecks } from '../lint/published-unchanged.ts';
import { ToolUsageError } from './tool-usage-error.ts';

export type CatalogFiles = {
  /** Ends in a slash. */
  readonly folder: URL;
  readonly checks: readonly DiscoveredCheck[];
};

export type NewCatalog = {
  /** "2026-08-14.3" */
  readonly version: string;
  /** New check id by the id of the check that it replaces. */
  readonly replacements: ReadonlyMap<string, string>;
};

/** Copies the base, with the newest implementation of every check or of its replacement. */
export function deriveCatalog(
  base: Catalog,
  { version, replacements }: NewCatalog,
  checks: readonly DiscoveredCheck[],
): Catalog {
  const unknownId = [...replacements.keys()].find(
    (id) => !base.checks.some((check) => check.id === id),
  );
  if (unknownId) throw new ToolUsageError(`${base.checksVersion} does not run ${unknownId}.`);
  return {
    ...base,
    checksVersion: version,
    checks: base.checks.map((entry) => {
      const id = replacements.get(entry.id) ?? entry.id;
      const newest = checks.findLast((check) => check.id === id);
      if (!newest) throw new ToolUsageError(`There is no check ${id} in checks/.`);
      const { title, impl, digest } = newest;
      return { ...entry, id, title, impl, digest };
    }),
  };
}

/** Writes a new catalog, and loads it as the service would. */
export async function addCatalog(catalog: Catalog, files: CatalogFiles): Promise<Catalog> {
  const { checksVersion } = catalog;
  const versions = await listCatalogs(files.folder);
  if (versions.includes(checksVersion)) {
    throw new ToolUsageError(
      `catalog/${checksVersion}.json is there already: take the next number.`,
    );
  }
  await writeCatalog(catalog, files.folder);
  return loadCatalog(checksVersion, files);
}

/** Updates the digests of changed check files. Returns the changed implementations by catalog version. */
export async function refreshCatalogs(
  files: CatalogFiles,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { catalogs } = await readPublished(files.folder);
  const digests = new Map(files.checks.map(({ impl, digest }) => [impl, digest]));
  const refreshed = new Map<string, readonly string[]>();
  for (const version of await listCatalogs(files.folder)) {
    if (Object.hasOwn(catalogs, version)) continue;
    const { catalog } = await readCatalog(version, files.folder);
    const current = ({ impl, digest }: CatalogCheck) => digests.get(impl) ?? digest;
    const moved = catalog.checks.filter((entry) => current(entry) !== entry.digest);
    if (moved.length > 0) {
      const checks = catalog.checks.map((entry) => ({ ...entry, digest: current(entry) }));
      await writeCatalog({ ...catalog, checks }, files.folder);
    }
    refreshed.set(
      version,
      moved.map(({ impl }) => impl),
    );
  }
  // We load catalogs after all are written, because one that does not load must not leave others stale.
  for (const version of refreshed.keys()) await loadCatalog(version, files);
  return refreshed;
}

/** Pins the digest of a catalog, and so its check files. Returns the newly pinned implementations. */
export async function publishCatalog(
  version: string,
  files: CatalogFiles,
): Promise<readonly string[]> {
  const catalog = await loadCatalog(version, files);
  const { digest } = await readCatalog(version, files.folder);
  const { catalogs } = await readPublished(files.folder);
  if (Object.hasOwn(catalogs, version)) {
    throw new ToolUsageError(`catalog/${version}.json is published already.`);
  }
  const published = await readPublishedChecks(files.folder);
  const changed = catalog.checks.find(
    (entry) => (published.get(entry.impl) ?? entry.digest) !== entry.digest,
  );
  if (changed) {
    throw new ToolUsageError(
      `${changed.impl} was published and then changed: restore it, revise it.`,
    );
  }
  await pinCatalogs({ ...catalogs, [version]: digest }, files.folder);
  return catalog.checks.map(({ impl }) => impl).filter((impl) => !published.has(impl));
}

/** Adds a heading and an empty table above the newest entry. */
export async function addChangelogEntry(from: Catalog, to: Catalog, folder: URL): Promise<void> {
  const url = new URL('CHANGELOG.md', folder);
  const text = await readFile(url, 'utf8');
  const rows = listChangedChecks(from, to).map(
    ({ before, after }) => `| ${after.id} | \`${before.impl}\`: … | \`${after.impl}\`: … |`,
  );
  const table = ['| check | before | after |', '|---|---|---|', ...rows];
  const entry = `## ${to.checksVersion}\n\n${table.join('\n')}\n\n`;
  const newest = text.indexOf('\n## ') + 1;
  const offset = newest === 0 ? text.length : newest;
  await writeFile(url, text.slice(0, offset) + entry + text.slice(offset));
}

/** Returns the pairs of entries at the same index that differ. */
export function listChangedChecks(from: Catalog, to: Catalog) {
  return to.checks.flatMap((after, index) => {
    const before = from.checks[index];
    return before && before.impl !== after.impl ? [{ before, after }] : [];
  });
}

export async function writeCatalog(catalog: Catalog, folder: URL): Promise<void> {
  const text = JSON.stringify({ $schema: './schema.json', ...catalog }, null, 2);
  await writeFile(new URL(`${catalog.checksVersion}.json`, folder), `${text}\n`);
}

/** Writes published.json. */
export async function pinCatalogs(catalogs: Published['catalogs'], folder: URL): Promise<void> {
  const order = new Intl.Collator('en', { numeric: true });
  const sorted = Object.entries(catalogs).sort(([a], [b]) => order.compare(a, b));
  const text = JSON.stringify({ catalogs: Object.fromEntries(sorted) }, null, 2);
  await writeFile(new URL('published.json', folder), `${text}\n`);
}
