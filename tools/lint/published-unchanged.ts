/** Refuses changes to published files: an old catalog must give the same grade again. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { publishedBreaches, readPublished } from '../../src/engine/catalog/published.ts';
import { CatalogError, CheckModuleError } from '../../src/engine/errors.ts';
import type { Finding, HouseRule } from './finding.ts';
import type { SourceTree } from './source-tree.ts';

const PINS = 'catalog/published.json';
const NOT_PINNED = `not pinned in ${PINS}`;

export const publishedUnchanged: HouseRule = async (tree) => {
  if (!tree.files.some((file) => file.startsWith('catalog/'))) return [];
  const folder = pathToFileURL(`${join(tree.root, 'catalog')}/`);
  try {
    const checks = await discoverChecks(pathToFileURL(`${join(tree.root, 'checks')}/`));
    const breaches = await publishedBreaches(folder, checks);
    return [...breaches.map((one) => breach(tree, one)), ...(await unpinned(tree, folder))];
  } catch (error) {
    if (error instanceof CatalogError) return [{ file: PINS, line: 1, message: error.message }];
    // check-outcomes reports checks that cannot be loaded.
    if (error instanceof CheckModuleError) return [];
    throw error;
  }
};

export function isUnpinned({ file, message }: Finding, version: string): boolean {
  return file === `catalog/${version}.json` && message.startsWith(NOT_PINNED);
}

/** The engine names a catalog by its file and a check by its impl, "P6@2". */
function breach(tree: SourceTree, message: string): Finding {
  const [name = PINS] = message.split(' ');
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

/** Without a pin, a change of a catalog would go unnoticed. */
async function unpinned(tree: SourceTree, folder: URL): Promise<Finding[]> {
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
