import { cp, readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CATALOG_FOLDER,
  type Catalog,
  type CatalogCheck,
  CatalogError,
  listCatalogs,
  loadCatalog,
} from '../../../../src/scanner/engine/catalog/catalog.ts';
import {
  type DiscoveredCheck,
  discoverChecks,
  fileDigest,
} from '../../../../src/scanner/engine/catalog/discover-checks.ts';
import { folderPerTest } from '../../../fixtures/temp-folder.ts';

const VERSION = '2026-08-14.2';

let checks: readonly DiscoveredCheck[];
const copy = folderPerTest();
let folder: URL;

beforeAll(async () => {
  checks = await discoverChecks();
});
beforeEach(async () => {
  folder = pathToFileURL(`${copy.path}/`);
  await cp(CATALOG_FOLDER, copy.path, { recursive: true });
  await writeFile(copy.at('published.json'), '{"catalogs": {}, "checks": {}}');
});

/** Rewrites the copy of the newest catalog, and loads it. */
async function loadChanged(change: (catalog: Catalog) => unknown, version = VERSION) {
  const catalog: Catalog = JSON.parse(await readFile(copy.at(`${version}.json`), 'utf8'));
  await writeFile(copy.at(`${version}.json`), JSON.stringify(change(catalog)));
  return loadCatalog(version, { folder, checks });
}

function withCheck(id: string, changes: Partial<Record<keyof CatalogCheck, unknown>>) {
  return (catalog: Catalog) => ({
    ...catalog,
    checks: catalog.checks.map((check) => (check.id === id ? { ...check, ...changes } : check)),
  });
}

describe('the catalogs that we ship', () => {
  test('are listed newest last, by date and then by number', async () => {
    for (const version of ['2026-08-14.10', '2025-12-31.3']) {
      await writeFile(copy.at(`${version}.json`), '{}');
    }
    // Later catalogs follow these.
    expect((await listCatalogs(folder)).slice(0, 4)).toEqual([
      '2025-12-31.3',
      '2026-07-25.1',
      '2026-08-14.2',
      '2026-08-14.10',
    ]);
  });

  // The copy has no pinned digests, so `loadCatalog` checks the schema.
  test('all match their schema', async () => {
    for (const version of await listCatalogs()) {
      await expect(loadCatalog(version, { folder, checks })).resolves.toBeDefined();
    }
  });

  test.each([
    ['2026-07-25.1', false, ['P2@1', 'S5@1']],
    ['2026-08-14.2', true, ['P2@2', 'S5@2']],
  ])('%s has probing.post %s and the implementations %j', async (version, post, revisedImpls) => {
    const catalog = await loadCatalog(version, { checks });
    expect(catalog).toMatchObject({
      checksVersion: version,
      scoring: 'scoring@1',
      probing: { post },
    });
    expect(catalog.checks).toHaveLength(25);
    const impls = catalog.checks.map(({ impl }) => impl);
    expect(impls).toEqual(expect.arrayContaining(revisedImpls));
    expect(catalog.categories.map(({ key, count }) => [key, count])).toEqual([
      ['protocol', 8],
      ['docs', 12],
      ['directory', 5],
    ]);
  });
});

describe('a catalog is refused, and the message names its file and fault', () => {
  test.each([
    ['no checks', ({ checks: _, ...rest }: Catalog) => rest, "required property 'checks'"],
    ['24 checks', (c: Catalog) => ({ ...c, checks: c.checks.slice(1) }), 'fewer than 25'],
    ['an unknown severity', withCheck('P1', { severity: 'fatal' }), '/checks/0/severity'],
    ['an unknown implementation', withCheck('P1', { impl: 'P1@99' }), 'P1@99 is not in checks/'],
    ['a wrong digest', withCheck('P1', { digest: `sha256:${'0'.repeat(64)}` }), 'the file of P1@1'],
  ])('%s', async (_, change, message) => {
    const loading = loadChanged(change);
    await expect(loading).rejects.toBeInstanceOf(CatalogError);
    await expect(loading).rejects.toThrow(`catalog/${VERSION}.json`);
    await expect(loading).rejects.toThrow(message);
  });

  test('a file that is not JSON', async () => {
    await writeFile(copy.at(`${VERSION}.json`), '{');
    await expect(loadCatalog(VERSION, { folder, checks })).rejects.toThrow('is not JSON');
  });

  test('a missing version: the message lists the versions', async () => {
    const loading = loadCatalog('2020-01-01.1', { folder, checks });
    await expect(loading).rejects.toThrow('There are: 2026-07-25.1, 2026-08-14.2');
  });

  test('a path instead of a version', async () => {
    await expect(loadCatalog('../package', { folder, checks })).rejects.toThrow('does not exist');
  });
});

describe('a published catalog', () => {
  test('is refused if a single space was added', async () => {
    const text = await readFile(copy.at(`${VERSION}.json`), 'utf8');
    const published = { catalogs: { [VERSION]: fileDigest(text) } };
    await writeFile(copy.at('published.json'), JSON.stringify(published));
    await expect(loadCatalog(VERSION, { folder, checks })).resolves.toBeDefined();
    await writeFile(copy.at(`${VERSION}.json`), `${text} `);
    await expect(loadCatalog(VERSION, { folder, checks })).rejects.toThrow(
      'published and was changed',
    );
  });

  test.each([
    ['a number', 1],
    ['a list of a digest', [`sha256:${'0'.repeat(64)}`]],
  ])('must be listed in a published.json without %s for a digest', async (_, digest) => {
    const published = { catalogs: { x: digest } };
    await writeFile(copy.at('published.json'), JSON.stringify(published));
    await expect(loadCatalog(VERSION, { folder, checks })).rejects.toThrow(
      'published.json must be',
    );
  });
});
