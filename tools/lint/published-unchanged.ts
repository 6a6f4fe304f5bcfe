/**
 * Refuses changes to published files, because an old catalog must give the same grade again. Until CHANGELOG.md has the
 * heading of a release, they may be pinned anew; then never.
 */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type Catalog,
  CatalogError,
  type Published,
  readPublished,
} from '../../src/scanner/engine/catalog/catalog.ts';
import {
  CheckModuleError,
  type DiscoveredCheck,
  discoverChecks,
  fileDigest,
} from '../../src/scanner/engine/catalog/discover-checks.ts';
import type { Finding, HouseRule } from './finding.ts';
import type { SourceTree } from './source-tree.ts';

const PINS_FILE = 'catalog/published.json';
const NOT_PINNED = `not pinned in ${PINS_FILE}`;
const PIN_ANEW = 'npm run catalog:new -- --repin, which is allowed until the release';

export const publishedUnchanged: HouseRule = async (tree) => {
  if (!tree.files.some((file) => file.startsWith('catalog/'))) return [];
  const folder = pathToFileURL(`${join(tree.root, 'catalog')}/`);
  try {
    const checks = await discoverChecks(pathToFileURL(`${join(tree.root, 'checks')}/`));
    const releases = tree.has('CHANGELOG.md') ? listReleases(tree.read('CHANGELOG.md')) : [];
    const breaches = [
      ...(await listPublishedBreaches(folder, checks, releases.length > 0)),
      ...(await findMovedPins(tree.root, folder, releases)),
    ];
    return [...breaches.map((one) => toFinding(tree, one)), ...(await findUnpinned(tree, folder))];
  } catch (error) {
    if (error instanceof CatalogError)
      return [{ file: PINS_FILE, line: 1, message: error.message }];
    // check-outcomes reports checks that cannot be loaded.
    if (error instanceof CheckModuleError) return [];
    throw error;
  }
};

/** Versions with a heading in CHANGELOG.md, such as "0.3.0": those that users may have. */
export function listReleases(changelog: string): readonly string[] {
  return [...changelog.matchAll(/^## \[?v?(\d+\.\d+\.\d+)(?=[\s\]]|$)/gm)].flatMap(
    ([, version]) => version ?? [],
  );
}

/** Returns one line for each published catalog and check file that is missing or changed. */
export async function listPublishedBreaches(
  folder: URL,
  checks: readonly DiscoveredCheck[],
  isReleased: boolean,
): Promise<readonly string[]> {
  const { lost, pinned } = await readPins(folder, isReleased ? 'restore it' : PIN_ANEW);
  const digests = new Map(checks.map(({ impl, digest }) => [impl, digest]));
  const changed = [...pinned].filter(([impl, digest]) => digests.get(impl) !== digest);
  return [
    ...lost,
    ...changed.map(([impl]) => {
      const what = digests.has(impl) ? 'was changed' : 'is missing';
      const [id] = impl.split('@');
      const remedy = `restore it, then npm run check:revise -- ${id}`;
      return `${impl} is published and ${what}: ${isReleased || !digests.has(impl) ? remedy : PIN_ANEW}`;
    }),
  ];
}

/** Digests of the check files that published catalogs run, by impl ("P6@2"). */
export async function readPublishedChecks(folder: URL): Promise<ReadonlyMap<string, string>> {
  return (await readPins(folder, 'restore it')).pinned;
}

/**
 * Reads the pins of the published catalogs. `lost` has a line for each catalog that is missing or changed. `pinned`
 * has the digests of the other catalogs' checks, by impl.
 */
async function readPins(folder: URL, remedy: string) {
  const { catalogs } = await readPublished(folder);
  const lost: string[] = [];
  const pinned = new Map<string, string>();
  for (const [version, digest] of Object.entries(catalogs)) {
    const name = `${version}.json`;
    const text = await readFile(new URL(name, folder), 'utf8').catch(() => null);
    if (text === null) lost.push(`catalog/${name} is published and missing: restore it`);
    else if (fileDigest(text) !== digest) {
      lost.push(`catalog/${name} is published and was changed: ${remedy}`);
    } else {
      const catalog: Catalog = JSON.parse(text); // it passed the schema when it was pinned
      for (const { impl, digest: pin } of catalog.checks) pinned.set(impl, pin);
    }
  }
  return { lost, pinned };
}

/**
 * Lists the catalogs whose pin is not that of the commit that added the heading of a release. Without history, or while
 * the heading is not committed, there are none.
 */
async function findMovedPins(
  root: string,
  folder: URL,
  releases: readonly string[],
): Promise<readonly string[]> {
  const { catalogs } = await readPublished(folder);
  return releases.flatMap((version) => {
    const heading = `^## \\[?v?${version.replaceAll('.', '\\.')}`;
    const commits = runGit(root, ['log', '--format=%H', `-G${heading}`, '--', 'CHANGELOG.md']);
    const released = commits?.trim().split('\n').at(-1) ?? '';
    const text = released === '' ? null : runGit(root, ['show', `${released}:./${PINS_FILE}`]);
    if (text === null) return [];
    const pins: Published = JSON.parse(text); // lint accepted it when the release was committed
    return Object.entries(pins.catalogs)
      .filter(([name, digest]) => catalogs[name] !== digest)
      .map(
        ([name]) =>
          `catalog/${name}.json is part of release ${version}, and its pin was changed: restore both`,
      );
  });
}

/** Returns the output; null if git fails, such as in a folder without history. */
function runGit(cwd: string, args: readonly string[]): string | null {
  // Hooks of git set variables that name another repository than `cwd`.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')),
  );
  const { status, stdout } = spawnSync('git', args, { cwd, env, encoding: 'utf8' });
  return status === 0 ? stdout : null;
}

/** True for the finding that this catalog is not pinned, which lint accepts while it is being published. */
export function isUnpinned({ file, message }: Finding, version: string): boolean {
  return file === `catalog/${version}.json` && message.startsWith(NOT_PINNED);
}

/** The engine names a catalog by its file and a check by its impl, "P6@2". */
function toFinding(tree: SourceTree, message: string): Finding {
  const [name = PINS_FILE] = message.split(' ');
  const [id, version] = name.split('@');
  const file = tree.files.find(
    (one) => one.startsWith(`checks/${id}-`) && one.endsWith(`/v${version}.ts`),
  );
  return {
    file: file ?? (version === undefined ? name : `checks/${id}-…/v${version}.ts`),
    line: 1,
    message,
  };
}

/** Finds catalogs without a pin, because lint could not see their changes. */
async function findUnpinned(tree: SourceTree, folder: URL): Promise<Finding[]> {
  const { catalogs } = await readPublished(folder);
  return tree.files.flatMap((file): Finding[] => {
    const [, version] = /^catalog\/(\d{4}-\d{2}-\d{2}\.\d+)\.json$/.exec(file) ?? [];
    if (version === undefined || version in catalogs) return [];
    return [
      {
        file,
        line: 1,
        message: `${NOT_PINNED}: publish it with "npm run catalog:new -- --publish ${version}"`,
      },
    ];
  });
}
