/** A temporary checkout with 25 small checks and one catalog. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CATALOG_FOLDER, type Catalog } from '../../src/scanner/engine/catalog/catalog.ts';
import {
  type DiscoveredCheck,
  discoverChecks,
} from '../../src/scanner/engine/catalog/discover-checks.ts';
import type { CategoryKey } from '../../src/scanner/model/report.ts';

const COUNTS: readonly (readonly [string, CategoryKey, number])[] = [
  ['P', 'protocol', 8],
  ['S', 'docs', 12],
  ['D', 'directory', 5],
];
const FIRST = '2026-01-01.1';

export type TempChecks = {
  readonly path: string;
  readonly checksFolder: URL;
  readonly catalogFolder: URL;
  /** Writes checks/<id>-check/v<version>.ts. */
  putCheck(id: string, version: number, note?: string): Promise<void>;
  /** The folder of the catalogs, and the checks as they stand now. */
  readFiles(): Promise<{ readonly folder: URL; readonly checks: readonly DiscoveredCheck[] }>;
  remove(): Promise<void>;
};

/** The catalog is 2026-01-01.1, valid and not published. */
export async function tempChecks(): Promise<TempChecks> {
  const path = await mkdtemp(join(tmpdir(), 'maintainer-'));
  const checksFolder = pathToFileURL(`${path}/checks/`);
  const catalogFolder = pathToFileURL(`${path}/catalog/`);

  async function putCheck(id: string, version: number, note = ''): Promise<void> {
    const folder = new URL(`${id}-check/`, checksFolder);
    await mkdir(folder, { recursive: true });
    await writeFile(new URL(`v${version}.ts`, folder), checkFile(id, version, note));
    await writeFile(new URL('README.md', folder), README);
  }
  for (const [letter, , count] of COUNTS) {
    for (let number = 1; number <= count; number += 1) await putCheck(`${letter}${number}`, 1);
  }
  await mkdir(catalogFolder);
  await cp(new URL('schema.json', CATALOG_FOLDER), new URL('schema.json', catalogFolder));
  await writeFile(new URL('published.json', catalogFolder), '{"catalogs": {}}\n');
  await writeFile(new URL('CHANGELOG.md', catalogFolder), `# Catalogs\n\n## ${FIRST}\n\nFirst.\n`);
  const catalog = JSON.stringify(await firstCatalog(checksFolder));
  await writeFile(new URL(`${FIRST}.json`, catalogFolder), catalog);
  return {
    path,
    checksFolder,
    catalogFolder,
    putCheck,
    readFiles: async () => ({
      folder: catalogFolder,
      checks: await discoverChecks(checksFolder),
    }),
    remove: () => rm(path, { recursive: true }),
  };
}

const README = `# A check

## History

- v1: first version.
`;

function checkFile(id: string, version: number, note: string): string {
  return `// ${note}
export default {
  id: '${id}',
  version: ${version},
  says: {
    right: 'All is as it should be.',
    wrong: 'Something is not as it should be.',
    unjudged: 'Whether all is as it should be is not known.',
  },
  needs: ['root'],
  requires: [],
  outcomes: ['seen'],
  evaluate: () => ({ status: 'pass', basis: 'measured', outcome: 'seen', evidence: 'a', fix: 'b' }),
};
`;
}

async function firstCatalog(checksFolder: URL): Promise<Catalog> {
  const checks = await discoverChecks(checksFolder);
  const categoryOf = (id: string) =>
    COUNTS.find(([letter]) => id.startsWith(letter))?.[1] ?? 'docs';
  return {
    checksVersion: FIRST,
    scoring: 'scoring@1',
    probing: { post: true },
    categories: COUNTS.map(([, key, count]) => ({ key, count, label: key, description: key })),
    checks: checks.map(({ id, title, impl, digest }) => {
      return { id, title, severity: 'minor', category: categoryOf(id), impl, digest };
    }),
  };
}
