import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Catalog } from '../../src/scanner/engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../../src/scanner/engine/judging-pool.ts';
import { toRecording } from '../../src/scanner/probe/recording.ts';
import { compareCatalogs, renderComparison } from '../../tools/checks/compare-catalogs.ts';
import { perfectSeller } from '../fixtures/observations/build-observations.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';
import { entriesOf, fixtureChecks, getFixture } from '../scanner/engine/fixtures/fixture-checks.ts';

let pool: Pool;
const folder = folderPerFile();

beforeAll(async () => {
  pool = createPool({ threads: 1 });
  const recording = toRecording({ scannedAt: '2026-08-14T12:00:00.000Z' }, perfectSeller());
  await folder.write('perfect.json', recording);
  await folder.write('README.md', 'No recording.');
});
afterAll(async () => {
  await pool.close();
});

function toCatalog(checksVersion: string, checks: readonly DiscoveredCheck[]): Catalog {
  const probing = { post: true };
  return {
    checksVersion,
    scoring: 'scoring@1',
    probing,
    categories: [],
    checks: entriesOf(checks),
  };
}

test('two catalogs judge the recorded origins, and the tool prints each grade and outcome that changes', async () => {
  const fixtures = await fixtureChecks();
  const plain = getFixture(fixtures, 'plain');
  const failing = { ...getFixture(fixtures, 'fails'), id: 'X1', title: 'plain', impl: 'X1@2' };
  const from = toCatalog('2026-01-01.1', [plain]);
  const to = toCatalog('2026-01-01.2', [failing]);
  const parts = { from, to, pool, checks: [plain, failing] };

  const rows = await compareCatalogs({ ...parts, recordings: pathToFileURL(`${folder.path}/`) });
  expect(rows).toMatchObject([
    {
      name: 'perfect',
      from: { grade: 'A', score: 100 },
      to: { grade: 'F', score: 0 },
      moved: ['X1 pass seen -> fail broken'],
    },
  ]);
  expect(renderComparison(rows, from.checksVersion, to.checksVersion)).toEqual([
    '1 recorded origins, 2026-01-01.1 -> 2026-01-01.2: 1 move',
    'perfect  A 100 -> F   0',
    '  X1 pass seen -> fail broken',
  ]);
});

test('without recorded origins there is nothing to compare', async () => {
  const from = toCatalog('2026-01-01.1', []);
  const recordings = pathToFileURL(`${folder.path}/none/`);
  const rows = await compareCatalogs({ from, to: from, pool, checks: [], recordings });
  expect(renderComparison(rows, 'a', 'b')).toEqual(['No recorded origins: nothing to compare.']);
});
