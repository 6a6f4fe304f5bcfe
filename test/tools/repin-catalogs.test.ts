import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadCatalog, readPublished } from '../../src/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { repinCatalogs } from '../../tools/checks/repin-catalogs.ts';
import { publishCatalog } from '../../tools/checks/write-catalog.ts';
import { publishedBreaches } from '../../tools/lint/published-unchanged.ts';
import { type TempChecks, tempChecks } from './temp-checks.ts';

const VERSION = '2026-01-01.1';
const UNRELEASED = { version: '0.3.0', changelog: '# Changelog\n\n## Unreleased\n' };
const RELEASED = { version: '0.3.0', changelog: '# Changelog\n\n## 0.3.0 (2026-12-01)\n' };

let temp: TempChecks;

beforeEach(async () => {
  temp = await tempChecks();
  await publishCatalog(VERSION, await files());
  await temp.putCheck('P6', 1, 'changed in place');
});
afterEach(() => temp.remove());

async function files() {
  return { folder: temp.catalogFolder, checks: await discoverChecks(temp.checksFolder) };
}

test('before a release, a check that was changed in place is pinned anew', async () => {
  await expect(loadCatalog(VERSION, await files())).rejects.toThrow('P6@1');
  await expect(repinCatalogs(await files(), UNRELEASED)).resolves.toEqual(['P6@1']);

  const { folder, checks } = await files();
  await expect(loadCatalog(VERSION, { folder, checks })).resolves.toBeDefined();
  await expect(publishedBreaches(folder, checks)).resolves.toEqual([]);
  expect(Object.keys((await readPublished(folder)).catalogs)).toEqual([VERSION]);
  await expect(repinCatalogs(await files(), UNRELEASED)).resolves.toEqual([]);
});

test('a released catalog keeps its pins', async () => {
  const { folder, checks } = await files();
  const before = await readPublished(folder);
  await expect(repinCatalogs({ folder, checks }, RELEASED)).rejects.toThrow('check:revise');
  await expect(readPublished(folder)).resolves.toEqual(before);
});
