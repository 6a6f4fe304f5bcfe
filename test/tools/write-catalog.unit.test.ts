import { readFile, rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  CATALOG_FOLDER,
  loadCatalog,
  readCatalog,
  readPublished,
} from '../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { toNextChecksVersion } from '../../tools/checks/next-checks-version.ts';
import {
  addCatalog,
  addChangelogEntry,
  deriveCatalog,
  listChangedChecks,
  publishCatalog,
  refreshCatalogs,
} from '../../tools/checks/write-catalog.ts';
import {
  listPublishedBreaches,
  readPublishedChecks,
} from '../../tools/lint/published-unchanged.ts';
import { type TempChecks, tempChecks } from './temp-checks.ts';

const FIRST_VERSION = '2026-01-01.1';
const SECOND_VERSION = '2026-01-01.2';

let temp: TempChecks;

beforeEach(async () => {
  temp = await tempChecks();
});
afterEach(() => temp.remove());

/** Derives the second catalog from the first. */
async function deriveSecond(replacements: Readonly<Record<string, string>> = {}) {
  const { folder, checks } = await temp.readFiles();
  const base = await loadCatalog(FIRST_VERSION, { folder, checks });
  const options = { version: SECOND_VERSION, replacements: new Map(Object.entries(replacements)) };
  return { base, catalog: deriveCatalog(base, options, checks) };
}

describe('a new catalog', () => {
  test('runs the newest version of each check, and otherwise equals the catalog before it', async () => {
    await temp.putCheck('P6', 2);
    await temp.putCheck('P6', 10);
    const { base, catalog } = await deriveSecond();
    const written = await addCatalog(catalog, await temp.readFiles());
    expect(listChangedChecks(base, written)).toMatchObject([
      { before: { impl: 'P6@1' }, after: { impl: 'P6@10', severity: 'minor' } },
    ]);
    expect({ ...written, checks: [], checksVersion: FIRST_VERSION }).toEqual({
      ...base,
      checks: [],
    });
    await expect(loadCatalog(SECOND_VERSION, await temp.readFiles())).resolves.toEqual(written);
  });

  test('runs a new check in the place of an old one', async () => {
    await temp.putCheck('S13', 1);
    const { base, catalog } = await deriveSecond({ S12: 'S13' });
    const written = await addCatalog(catalog, await temp.readFiles());
    expect(written.checks.map(({ id }) => id)).not.toContain('S12');
    expect(listChangedChecks(base, written)).toMatchObject([
      { before: { id: 'S12' }, after: { id: 'S13', impl: 'S13@1', category: 'docs' } },
    ]);
  });

  test.each([
    [{ S99: 'S1' }, 'does not run S99'],
    [{ S12: 'S99' }, 'no check S99'],
  ])('cannot replace %j', async (replacements, message) => {
    await expect(deriveSecond(replacements)).rejects.toThrow(message);
  });

  test('is refused if a catalog of its version exists', async () => {
    const { catalog } = await deriveSecond();
    await addCatalog(catalog, await temp.readFiles());
    await expect(addCatalog(catalog, await temp.readFiles())).rejects.toThrow('is there already');
  });

  test('has an entry in the changelog above the entries of earlier catalogs', async () => {
    await temp.putCheck('P6', 2);
    const { base, catalog } = await deriveSecond();
    await addChangelogEntry(base, catalog, temp.catalogFolder);
    const text = await readFile(new URL('CHANGELOG.md', temp.catalogFolder), 'utf8');
    expect(text).toMatch(
      /^# Catalogs\n\n## 2026-01-01\.2\n\n.*\n.*\n\| P6 \| `P6@1`: … \| `P6@2`: … \|\n\n## 2026-01-01\.1\n/,
    );
  });
});

describe('a changed check file', () => {
  test('gets its new digest in unpublished catalogs', async () => {
    await temp.putCheck('P6', 1, 'changed');
    await expect(loadCatalog(FIRST_VERSION, await temp.readFiles())).rejects.toThrow(
      'other digest',
    );
    await expect(refreshCatalogs(await temp.readFiles())).resolves.toEqual(
      new Map([[FIRST_VERSION, ['P6@1']]]),
    );
    await expect(loadCatalog(FIRST_VERSION, await temp.readFiles())).resolves.toBeDefined();
    await expect(refreshCatalogs(await temp.readFiles())).resolves.toEqual(
      new Map([[FIRST_VERSION, []]]),
    );
  });

  test('leaves a published catalog as it is, and that catalog refuses to load', async () => {
    await publishCatalog(FIRST_VERSION, await temp.readFiles());
    const catalogBefore = await readCatalog(FIRST_VERSION, temp.catalogFolder);
    await temp.putCheck('P6', 1, 'changed');
    await expect(refreshCatalogs(await temp.readFiles())).resolves.toEqual(new Map());
    await expect(readCatalog(FIRST_VERSION, temp.catalogFolder)).resolves.toEqual(catalogBefore);
    await expect(loadCatalog(FIRST_VERSION, await temp.readFiles())).rejects.toThrow(
      'other digest',
    );
    const { folder, checks } = await temp.readFiles();
    await expect(listPublishedBreaches(folder, checks, true)).resolves.toHaveLength(1);
  });
});

describe('publishing a catalog', () => {
  test('pins the catalog and each check file that it runs, once', async () => {
    await temp.putCheck('P6', 2);
    await expect(publishCatalog(FIRST_VERSION, await temp.readFiles())).resolves.toHaveLength(25);
    const { catalog } = await deriveSecond();
    await addCatalog(catalog, await temp.readFiles());
    await expect(publishCatalog(SECOND_VERSION, await temp.readFiles())).resolves.toEqual(['P6@2']);

    const published = await readPublished(temp.catalogFolder);
    expect(Object.keys(published.catalogs)).toEqual([FIRST_VERSION, SECOND_VERSION]);
    expect([...(await readPublishedChecks(temp.catalogFolder)).keys()]).toHaveLength(26);
    const { folder, checks } = await temp.readFiles();
    await expect(listPublishedBreaches(folder, checks, true)).resolves.toEqual([]);
    await expect(publishCatalog(SECOND_VERSION, await temp.readFiles())).rejects.toThrow(
      'is published already',
    );
  });

  test('refuses the catalog if it does not load', async () => {
    await temp.putCheck('P6', 1, 'changed');
    await expect(publishCatalog(FIRST_VERSION, await temp.readFiles())).rejects.toThrow(
      'other digest',
    );
  });

  test('refuses a check file that another catalog pinned with another digest', async () => {
    const { catalog } = await deriveSecond();
    await publishCatalog(FIRST_VERSION, await temp.readFiles());
    await temp.putCheck('P6', 1, 'changed');
    const { folder, checks } = await temp.readFiles();
    const options = { version: SECOND_VERSION, replacements: new Map() };
    await addCatalog(deriveCatalog(catalog, options, checks), { folder, checks });
    await expect(publishCatalog(SECOND_VERSION, await temp.readFiles())).rejects.toThrow(
      'P6@1 was published',
    );
  });
});

describe('the list of published files', () => {
  test('shows which published files were changed or are missing', async () => {
    await publishCatalog(FIRST_VERSION, await temp.readFiles());
    const { folder, checks } = await temp.readFiles();
    await expect(listPublishedBreaches(folder, checks, true)).resolves.toEqual([]);
    const others = checks.filter(({ id }) => id !== 'P6' && id !== 'S1');
    const [s1] = checks.filter(({ id }) => id === 'S1');
    const changed = s1 === undefined ? [] : [{ ...s1, digest: `sha256:${'0'.repeat(64)}` }];
    await expect(listPublishedBreaches(folder, [...others, ...changed], true)).resolves.toEqual([
      'P6@1 is published and is missing: restore it, then npm run check:revise -- P6',
      'S1@1 is published and was changed: restore it, then npm run check:revise -- S1',
    ]);
    await rm(new URL(`${FIRST_VERSION}.json`, folder));
    await expect(listPublishedBreaches(folder, checks, true)).resolves.toEqual([
      `catalog/${FIRST_VERSION}.json is published and missing: restore it`,
    ]);
  });

  test('matches the files of this checkout', async () => {
    const checks = await discoverChecks();
    await expect(listPublishedBreaches(CATALOG_FOLDER, checks, true)).resolves.toEqual([]);
  });
});

test.each([
  [['2026-08-14.2'], '2026-09-01T23:59:59Z', '2026-09-01.1'],
  [['2026-08-14.1', '2026-08-14.9'], '2026-08-14T00:00:00Z', '2026-08-14.10'],
  [['2026-08-14.2'], '2026-01-01T00:00:00Z', '2026-08-14.3'],
  [[], '2026-01-01T00:00:00Z', '2026-01-01.1'],
])('after the catalogs %j, a catalog made at %s has the version %s', (versions, now, expected) => {
  expect(toNextChecksVersion(versions, new Date(now))).toBe(expected);
});
