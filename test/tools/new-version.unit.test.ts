import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readPublished } from '../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { copyCheckVersion } from '../../tools/checks/copy-check-version.ts';
import { publishLinted } from '../../tools/checks/publish-linted.ts';
import { scaffoldCheck } from '../../tools/checks/scaffold-check.ts';
import { publishCatalog } from '../../tools/checks/write-catalog.ts';
import { findHouseBreaches } from '../../tools/lint/house-rules.ts';
import { readPublishedChecks } from '../../tools/lint/published-unchanged.ts';
import { type TempChecks, tempChecks } from './temp-checks.ts';

let temp: TempChecks;

beforeEach(async () => {
  temp = await tempChecks();
});
afterEach(() => temp.remove());

describe('a new check', () => {
  test('has the files of a check, with its id and title in them', async () => {
    const folder = await scaffoldCheck('S13', 'site-map', temp.checksFolder);
    await expect(readdir(folder)).resolves.toEqual(['README.md', 'cases.ts', 'v1.ts']);
    const [readme, version] = await Promise.all(
      ['README.md', 'v1.ts'].map((name) => readFile(new URL(name, folder), 'utf8')),
    );
    expect(readme).toMatch(/^# S13 site-map\n/);
    expect(version).toContain("id: 'S13',");
    expect(`${readme}${version}`).not.toContain('{{');
  });

  test('fails lint until its README, code and cases are written', async () => {
    const sources = new URL('../../src/scanner/', import.meta.url);
    const copiedSources = new URL('../src/scanner/', temp.checksFolder);
    const modules = ['define-check', 'findings', 'missing-challenge', 'nothing-paid'];
    for (const name of [
      ...modules.map((module) => `engine/${module}.ts`),
      'model/verdict.ts',
      'parse/text/text.ts',
    ]) {
      await cp(new URL(name, sources), new URL(name, copiedSources), { recursive: true });
    }
    await scaffoldCheck('S13', 'site-map', temp.checksFolder);
    const findings = await findHouseBreaches(temp.path);
    const checkFindings = findings.filter(({ file }) => file.startsWith('checks/S13-site-map/'));
    expect(
      checkFindings.map(({ file, message }) => `${file.split('/').at(-1)}: ${message}`),
    ).toEqual(
      expect.arrayContaining([
        'README.md: "## Source" is empty: write it',
        'README.md: "## Why" is empty: write it',
        expect.stringMatching(/^cases\.ts: no case reaches unreadable/),
        expect.stringMatching(/^cases\.ts: no case reaches answered/),
      ]),
    );
    const codeFindings = checkFindings.filter(({ file }) => file.endsWith('v1.ts'));
    expect(codeFindings.map(({ message }) => message)).toEqual([
      'says nothing yet: write the header, the fixes, what is right and what is wrong',
    ]);
  });

  test.each([
    ['S12', 'other-title', 'S12 is taken by checks/S12-check'],
    ['X1', 'title', 'not a check id'],
    ['S013', 'title', 'not a check id'],
    ['S13', 'Title With Spaces', 'not a title'],
    ['S13', '../../escape', 'not a title'],
  ])('with the id %s and the title %s is refused', async (id, title, message) => {
    await expect(scaffoldCheck(id, title, temp.checksFolder)).rejects.toThrow(message);
  });
});

describe('the next version of a check', () => {
  async function copy(id: string) {
    const checks = await discoverChecks(temp.checksFolder);
    return copyCheckVersion(id, checks, await readPublishedChecks(temp.catalogFolder));
  }

  async function publish() {
    const checks = await discoverChecks(temp.checksFolder);
    await publishCatalog('2026-01-01.1', { folder: temp.catalogFolder, checks });
  }

  test('is a copy of the newest version with the next number, and has a line in the history', async () => {
    await publish();
    await expect(copy('P6')).resolves.toMatchObject({ version: 2, from: { impl: 'P6@1' } });
    const folder = new URL('P6-check/', temp.checksFolder);
    const [v1, v2, readme] = await Promise.all(
      ['v1.ts', 'v2.ts', 'README.md'].map((name) => readFile(new URL(name, folder), 'utf8')),
    );
    expect(v2).toBe(v1?.replace('version: 1,', 'version: 2,'));
    expect(readme).toMatch(/- v1: first version\.\n- v2: what moves from v1, and why\.\n$/);
    const impls = (await discoverChecks(temp.checksFolder)).map(({ impl }) => impl);
    expect(impls).toContain('P6@2');
  });

  test('is refused until the newest version is published', async () => {
    await expect(copy('P6')).rejects.toThrow('P6@1 is not published: change it in place');
    await publish();
    await copy('P6');
    await expect(copy('P6')).rejects.toThrow('P6@2 is not published');
  });

  test('is refused for a check that does not exist', async () => {
    await expect(copy('P66')).rejects.toThrow('no check P66');
  });

  test('is refused if the file of the newest version does not contain "version: 1,"', async () => {
    const file = new URL('P6-check/v1.ts', temp.checksFolder);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('  version: 1,\n', "  ['version']: 1,\n"));
    const checks = await discoverChecks(temp.checksFolder);
    const published = new Map([['P6@1', 'pinned']]);
    await expect(copyCheckVersion('P6', checks, published)).rejects.toThrow(
      'must state "version: 1,"',
    );
  });
});

describe('a catalog before its publication', () => {
  const VERSION = '2026-01-01.1';
  const readSources = async () => ({
    folder: temp.catalogFolder,
    checks: await discoverChecks(temp.checksFolder),
  });

  test('is linted, and is not published if lint fails', async () => {
    const lintedVersions: string[] = [];
    // The first lint fails, and the second lint succeeds.
    const lint = (version: string) => lintedVersions.push(version) > 1;
    const publishedBefore = await readPublished(temp.catalogFolder);
    await expect(publishLinted(VERSION, await readSources(), lint)).rejects.toThrow(
      'is not published',
    );
    await expect(readPublished(temp.catalogFolder)).resolves.toEqual(publishedBefore);
    await publishLinted(VERSION, await readSources(), lint);
    expect(lintedVersions).toEqual([VERSION, VERSION]);
    expect((await readPublished(temp.catalogFolder)).catalogs).toHaveProperty([VERSION]);
  });
});
