/** Lint before and after the release: the heading in CHANGELOG.md is what closes a published file. */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { repinCatalogs } from '../../tools/checks/repin-catalogs.ts';
import { pinCatalogs, publishCatalog } from '../../tools/checks/write-catalog.ts';
import { listReleases, publishedUnchanged } from '../../tools/lint/published-unchanged.ts';
import { openTree } from '../../tools/lint/source-tree.ts';
import { type TempChecks, tempChecks } from './temp-checks.ts';

const UNRELEASED = '# Changelog\n\n## Unreleased\n\n- One.\n';
const RELEASED = '# Changelog\n\n## 0.3.0\n\nThe first release.\n';

let temp: TempChecks;

beforeEach(async () => {
  temp = await tempChecks();
  await publishCatalog('2026-01-01.1', await temp.readFiles());
});
afterEach(() => temp.remove());

async function lint(changelog: string) {
  await writeFile(join(temp.path, 'CHANGELOG.md'), changelog);
  const findings = await publishedUnchanged(openTree(temp.path));
  return findings.map(({ file, message }) => `${file}: ${message}`);
}

function git(...args: readonly string[]) {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const env = { PATH: process.env['PATH'], HOME: temp.path };
  const run = spawnSync('git', [...identity, ...args], { cwd: temp.path, env, encoding: 'utf8' });
  expect(run.stderr).not.toContain('fatal');
}

async function commit(changelog: string) {
  await writeFile(join(temp.path, 'CHANGELOG.md'), changelog);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'A change');
}

test.each([UNRELEASED, RELEASED])('an unchanged tree has no finding', async (changelog) => {
  expect(await lint(changelog)).toEqual([]);
});

test('before the release, lint names the command that pins a changed file anew, and is content with it', async () => {
  await temp.putCheck('P6', 1, 'corrected in place');
  expect(await lint(UNRELEASED)).toEqual([
    expect.stringMatching(/v1\.ts: P6@1 is published and was changed: .*--repin/),
  ]);
  await repinCatalogs(await temp.readFiles(), listReleases(UNRELEASED));
  expect(await lint(UNRELEASED)).toEqual([]);
});

test('after the release, lint refuses a changed file, and the remedy is a new version', async () => {
  await temp.putCheck('P6', 1, 'corrected in place');
  const [finding = '', ...more] = await lint(RELEASED);
  expect(more).toEqual([]);
  expect(finding).toMatch(/P6@1 .*: restore it, then npm run check:revise -- P6$/);
  expect(finding).not.toContain('--repin');
  await temp.putCheck('P6', 1);
  await temp.putCheck('P6', 2, 'a new version');
  expect(await lint(RELEASED)).toEqual([]);
});

describe('in a repository', () => {
  beforeEach(async () => {
    git('init', '--quiet');
    await commit(UNRELEASED);
    await commit(RELEASED);
    await temp.putCheck('P6', 1, 'corrected in place');
  });

  test('pins that somebody wrote anew after the release are refused, in later releases too', async () => {
    await repinCatalogs(await temp.readFiles(), []);
    const finding =
      'catalog/2026-01-01.1.json: catalog/2026-01-01.1.json is part of release 0.3.0, and its pin was changed: restore both';
    expect(await lint(RELEASED)).toEqual([finding]);
    const later = RELEASED.replace('## 0.3.0', '## 0.3.1\n\nMore.\n\n## 0.3.0');
    await commit(later);
    expect(await lint(later)).toEqual([finding]);
  });

  test('a catalog that was taken out of the pins is refused', async () => {
    await pinCatalogs({}, temp.catalogFolder);
    expect(await lint(RELEASED)).toContainEqual(expect.stringContaining('part of release 0.3.0'));
  });

  test('pins that were written anew before the release are its pins', async () => {
    git('reset', '--quiet', '--soft', 'HEAD~1');
    await repinCatalogs(await temp.readFiles(), []);
    await commit(RELEASED);
    expect(await lint(RELEASED)).toEqual([]);
  });
});

test('a heading of another kind is not a release', async () => {
  const text = '# Changelog\n\n## Unreleased\n\n### 0.3.0\n\n## 0.3\n\nAs in ## 0.3.0\n';
  expect(listReleases(text)).toEqual([]);
  expect(listReleases('## 0.3.0 (2026-12-01)\n## [v0.10.1]\r\n## 1.0.0')).toEqual([
    '0.3.0',
    '0.10.1',
    '1.0.0',
  ]);
  const own = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  expect(own).toMatch(/^## (?:Unreleased|\d)/m);
});
