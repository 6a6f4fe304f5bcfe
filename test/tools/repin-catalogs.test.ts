import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadCatalog, readPublished } from '../../src/scanner/engine/catalog/catalog.ts';
import { repinCatalogs } from '../../tools/checks/repin-catalogs.ts';
import { publishCatalog } from '../../tools/checks/write-catalog.ts';
import { listPublishedBreaches, listReleases } from '../../tools/lint/published-unchanged.ts';
import { type TempChecks, tempChecks } from './temp-checks.ts';

const CATALOG_VERSION = '2026-01-01.1';
const UNRELEASED_PRODUCT = listReleases('# Changelog\n\n## Unreleased\n');
const RELEASED_PRODUCT = listReleases('# Changelog\n\n## Unreleased\n\n## 0.3.0 (2026-12-01)\n');

let temp: TempChecks;

beforeEach(async () => {
  temp = await tempChecks();
  await publishCatalog(CATALOG_VERSION, await temp.readFiles());
  await temp.putCheck('P6', 1, 'changed in place');
});
afterEach(() => temp.remove());

test('before a release, a check that was changed in place is pinned anew', async () => {
  await expect(loadCatalog(CATALOG_VERSION, await temp.readFiles())).rejects.toThrow('P6@1');
  await expect(repinCatalogs(await temp.readFiles(), UNRELEASED_PRODUCT)).resolves.toEqual([
    'P6@1',
  ]);

  const { folder, checks } = await temp.readFiles();
  await expect(loadCatalog(CATALOG_VERSION, { folder, checks })).resolves.toBeDefined();
  await expect(listPublishedBreaches(folder, checks, false)).resolves.toEqual([]);
  expect(Object.keys((await readPublished(folder)).catalogs)).toEqual([CATALOG_VERSION]);
  await expect(repinCatalogs(await temp.readFiles(), UNRELEASED_PRODUCT)).resolves.toEqual([]);
});

test('after a release, a check that was changed in place is refused, and the catalog keeps its pins', async () => {
  const { folder, checks } = await temp.readFiles();
  const publishedBefore = await readPublished(folder);
  await expect(repinCatalogs({ folder, checks }, RELEASED_PRODUCT)).rejects.toThrow('check:revise');
  await expect(readPublished(folder)).resolves.toEqual(publishedBefore);
});
