/** Requires of each catalog what its schema cannot say. Digests are checked whenever a catalog is loaded. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type Catalog,
  CatalogError,
  readCatalog,
} from '../../src/scanner/engine/catalog/catalog.ts';
import {
  CheckModuleError,
  type DiscoveredCheck,
  discoverChecks,
} from '../../src/scanner/engine/catalog/discover-checks.ts';
import { SCORINGS } from '../../src/scanner/engine/score.ts';
import type { Finding, HouseRule } from './finding.ts';

const CATALOG_FILE = /^catalog\/(\d{4}-\d{2}-\d{2}\.\d+)\.json$/;

export const catalogs: HouseRule = async (tree) => {
  const files = tree.files.filter((file) => CATALOG_FILE.test(file));
  if (files.length === 0) return [];
  const checks = await discoverChecks(pathToFileURL(`${join(tree.root, 'checks')}/`)).catch(
    skipUnreadable,
  );
  const findings = files.map(async (file): Promise<Finding[]> => {
    const version = CATALOG_FILE.exec(file)?.[1] ?? '';
    const folder = pathToFileURL(`${join(tree.root, 'catalog')}/`);
    const read = await readCatalog(version, folder).catch(skipUnreadable);
    const breaches = read && checks ? findCatalogBreaches(read.catalog, version, checks) : [];
    return breaches.map((message) => ({ file, line: 1, message }));
  });
  return (await Promise.all(findings)).flat();
};

/** published-unchanged and check-outcomes report files that cannot be read. */
function skipUnreadable(error: unknown): null {
  if (error instanceof CatalogError || error instanceof CheckModuleError) return null;
  throw error;
}

/** Lists the members that contradict each other, the catalog's name or the checks. */
export function findCatalogBreaches(
  { checksVersion, scoring, categories, checks: entries }: Catalog,
  version: string,
  checks: readonly DiscoveredCheck[],
): readonly string[] {
  const ids = entries.map(({ id }) => id);
  const repeatedIds = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [
    ...(checksVersion === version ? [] : [`checksVersion is ${checksVersion}`]),
    ...(Object.hasOwn(SCORINGS, scoring) ? [] : [`${scoring} is not known`]),
    ...repeatedIds.map((id) => `${id} is listed twice`),
    ...categories.flatMap(({ key, count }) => {
      const actual = entries.filter(({ category }) => category === key).length;
      return actual === count ? [] : [`${key} says ${count} checks and has ${actual}`];
    }),
    ...entries.flatMap(({ id, title, impl }) => {
      const check = checks.find((each) => each.impl === impl);
      if (!check) return [`${impl} is not in checks/`];
      const missingIds = check.definition.requires.filter((required) => !ids.includes(required));
      return [
        ...(check.id === id ? [] : [`${id} runs ${impl}`]),
        ...(check.title === title
          ? []
          : [`${id} is "${title}" here and "${check.title}" in checks/`]),
        ...missingIds.map((missing) => `${impl} requires ${missing}, not in this catalog`),
      ];
    }),
  ];
}
