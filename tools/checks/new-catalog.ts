/** `npm run catalog:new`: adds a checksVersion, or refreshes, publishes and pins existing ones. */
import { parseArgs } from 'node:util';
import {
  CATALOG_FOLDER,
  type Catalog,
  listCatalogs,
  loadCatalog,
} from '../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../src/scanner/engine/judging-pool.ts';
import { messageOf } from '../../src/scanner/model/redact.ts';
import { writeChecksReadme } from './checks-readme.ts';
import { compareCatalogs, renderComparison } from './compare-catalogs.ts';
import { toNextChecksVersion } from './next-checks-version.ts';
import { publishLinted } from './publish-linted.ts';
import { readReleases, repinCatalogs } from './repin-catalogs.ts';
import { runTool } from './run-tool.ts';
import { ToolUsageError } from './tool-usage-error.ts';
import {
  addCatalog,
  addChangelogEntry,
  type CatalogFiles,
  deriveCatalog,
  listChangedChecks,
  refreshCatalogs,
} from './write-catalog.ts';

const ROOT = new URL('../../', import.meta.url);
const RECORDINGS = new URL('../../test/fixtures/origins/recorded/', import.meta.url);
const USAGE = `usage: npm run catalog:new -- [VERSION] [--replace OLD=NEW]…
  makes catalog/VERSION.json from the newest catalog, with the newest implementation of every
  check, and shows which recorded origins move. VERSION is today's date and the next number.
npm run catalog:new -- --refresh
  takes the digests of changed check files into catalogs that are not published yet.
npm run catalog:new -- --publish VERSION
  runs lint, then pins a catalog and its check files in catalog/published.json: they never change
  again.
npm run catalog:new -- --repin
  pins what is published anew, where check files were changed in place; refused once CHANGELOG.md has
  the heading of a release. Name the moved cells of the golden table in the commit, or "none".`;

await runTool(async () => {
  const { values, positionals } = readArguments();
  if (values.help) return [USAGE];
  const files = { folder: CATALOG_FOLDER, checks: await discoverChecks() };
  if (values.refresh) return refresh(files);
  if (values.publish !== undefined) return publish(values.publish, files);
  if (values.repin) return repin(files);
  return create(positionals[0], parseReplacements(values.replace), files);
});

function readArguments() {
  try {
    const parsed = parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', default: false },
        refresh: { type: 'boolean', default: false },
        publish: { type: 'string' },
        repin: { type: 'boolean', default: false },
        replace: { type: 'string', multiple: true, default: [] },
      },
    });
    if (parsed.positionals.length <= 1) return parsed;
  } catch (error) {
    throw new ToolUsageError(`${messageOf(error)}\n${USAGE}`);
  }
  throw new ToolUsageError(USAGE);
}

function parseReplacements(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair) => {
      const [oldId, newId, ...more] = pair.split('=');
      if (!oldId || !newId || more.length > 0) {
        throw new ToolUsageError(`--replace ${pair}: say OLD=NEW, such as S12=S13`);
      }
      return [oldId, newId];
    }),
  );
}

async function create(
  requestedVersion: string | undefined,
  replacements: ReadonlyMap<string, string>,
  files: CatalogFiles,
): Promise<readonly string[]> {
  const versions = await listCatalogs(files.folder);
  const newest = versions.at(-1);
  if (newest === undefined) throw new ToolUsageError('There is no catalog to begin from.');
  const base = await loadCatalog(newest, files);
  const version = requestedVersion ?? toNextChecksVersion(versions, new Date());
  const catalog = await addCatalog(
    deriveCatalog(base, { version, replacements }, files.checks),
    files,
  );
  await addChangelogEntry(base, catalog, files.folder);
  await writeChecksReadme(catalog, files.checks);
  const changed = listChangedChecks(base, catalog);
  return [
    `catalog/${version}.json is made from ${newest}; ${changed.length} ${changed.length === 1 ? 'check differs' : 'checks differ'}:`,
    ...changed.map(({ before, after }) => `  ${before.impl} -> ${after.impl}`),
    ...(await renderRecordings(base, catalog, files)),
    'Next: say before and after in catalog/CHANGELOG.md; after each change of a check,',
    `--refresh; when it is final, --publish ${version}, then UPDATE_GOLDEN=1 npx vitest run test/golden,`,
    'and SERVICE_CHECKS_VERSION in src/scanner/model/report.ts, by which the service judges.',
  ];
}

async function refresh(files: CatalogFiles): Promise<readonly string[]> {
  const refreshed = await refreshCatalogs(files);
  if (refreshed.size === 0) return ['Every catalog is published: nothing may be refreshed.'];
  const lines = [...refreshed].map(([version, impls]) => {
    return `catalog/${version}.json: ${impls.length === 0 ? 'as it was' : impls.join(', ')}`;
  });
  const [before, newest] = (await listCatalogs(files.folder)).slice(-2);
  if (before === undefined || newest === undefined) return lines;
  const [from, to] = await Promise.all(
    [before, newest].map((version) => loadCatalog(version, files)),
  );
  if (!from || !to) return lines;
  await writeChecksReadme(to, files.checks);
  return [...lines, ...(await renderRecordings(from, to, files))];
}

async function publish(version: string, files: CatalogFiles): Promise<readonly string[]> {
  const pinned = await publishLinted(version, files);
  return [
    `catalog/${version}.json is published; pinned with it: ${pinned.join(', ') || 'nothing new'}.`,
    'From now on a change of any of these files fails lint and stops the service.',
  ];
}

async function repin(files: CatalogFiles): Promise<readonly string[]> {
  const moved = await repinCatalogs(files, await readReleases(ROOT));
  return [
    `Pinned anew: ${moved.join(', ') || 'nothing, all digests are as they were'}.`,
    'Next: npx vitest run test/golden, which shows every cell that moves.',
  ];
}

async function renderRecordings(
  from: Catalog,
  to: Catalog,
  { checks }: CatalogFiles,
): Promise<readonly string[]> {
  const pool = createPool();
  try {
    const rows = await compareCatalogs({ from, to, checks, pool, recordings: RECORDINGS });
    return renderComparison(rows, from.checksVersion, to.checksVersion);
  } finally {
    await pool.close();
  }
}
