/** Refuses changes to published files, because an old catalog must give the same grade again. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Catalog, CatalogError, readPublished } from '../../src/engine/catalog/catalog.ts';
import {
  CheckModuleError,
  type DiscoveredCheck,
  discoverChecks,
  fileDigest,
} from '../../src/engine/catalog/discover-checks.ts';
import type { Finding, HouseRule } from './finding.ts';
import type { SourceTree } from './source-tree.ts';

const PINS_FILE = 'catalog/published.json';
const NOT_PINNED = `not pinned in ${PINS_FILE}`;

export const publishedUnchanged: HouseRule = async (tree) => {
  if (!tree.files.some((file) => file.startsWith('catalog/'))) return [];
  const folder = pathToFileURL(`${join(tree.root, 'catalog')}/`);
  try {
    const checks = await discoverChecks(pathToFileURL(`${join(tree.root, 'checks')}/`));
    const breaches = await publishedBreaches(folder, checks);
    return [...breaches.map((one) => toFinding(tree, one)), ...(await findUnpinned(tree, folder))];
  } catch (error) {
    if (error instanceof CatalogError)
      return [{ file: PINS_FILE, line: 1, message: error.message }];
    // check-outcomes reports checks that cannot be loaded.
    if (error instanceof CheckModuleError) return [];
    throw error;
  }
};

/** Lists every published catalog and check file that is missing or changed, one line each. */
export async function publishedBreaches(
  folder: URL,
  checks: readonly DiscoveredCheck[],
): Promise<readonly string[]> {
  const { lost, pinned } = await readPins(folder);
  const digests = new Map(checks.map(({ impl, digest }) => [impl, digest]));
  const changed = [...pinned].filter(([impl, digest]) => digests.get(impl) !== digest);
  return [
    ...lost,
    ...changed.map(([impl]) => {
      const what = digests.has(impl) ? 'was changed' : 'is missing';
      const [id] = impl.split('@');
      return `${impl} is published and ${what}: restore it, then npm run check:revise -- ${id}`;
    }),
  ];
}

/** Digests of the check files that published catalogs run, by impl ("P6@2"). */
export async function publishedChecks(folder: URL): Promise<ReadonlyMap<string, string>> {
  return (await readPins(folder)).pinned;
}

/** `lost` has a line for each catalog that is missing or changed; such a catalog pins no check. */
async function readPins(folder: URL) {
  const { catalogs } = await readPublished(folder);
  const lost: string[] = [];
  const pinned = new Map<string, string>();
  for (const [version, digest] of Object.entries(catalogs)) {
    const name = `${version}.json`;
    const text = await readFile(new URL(name, folder), 'utf8').catch(() => null);
    if (text === null) lost.push(`catalog/${name} is published and missing: restore it`);
    else if (fileDigest(text) !== digest) {
      lost.push(`catalog/${name} is published and was changed: restore it`);
    } else {
      const catalog: Catalog = JSON.parse(text); // it passed the schema when it was pinned
      for (const { impl, digest: pin } of catalog.checks) pinned.set(impl, pin);
    }
  }
  return { lost, pinned };
}

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
