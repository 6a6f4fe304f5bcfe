import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { explainCheck, readSections } from '../../../../src/scanner/engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../../../src/scanner/engine/catalog/discover-checks.ts';
import { folderPerTest } from '../../../fixtures/temp-folder.ts';
import { entriesOf, fixtureChecks, getFixture } from '../fixtures/fixture-checks.ts';

const folder = folderPerTest();
let check: DiscoveredCheck;

beforeEach(async () => {
  const needsBroken = getFixture(await fixtureChecks(), 'needs-broken');
  check = { ...needsBroken, folder: pathToFileURL(`${folder.path}/`).href };
});

function createCatalog() {
  return { checksVersion: '2026-01-01.1', checks: entriesOf([check]) };
}

test('a check is explained by its catalog entry, its definition and its README', async () => {
  await writeFile(folder.at('README.md'), '# X14\n\n## Why\n\nBecause.\n\n## Fix\n\nDo.\n');
  const explanation = {
    id: 'X14',
    title: 'needs-broken',
    severity: 'minor',
    category: 'docs',
    impl: 'X14@1',
    says: { right: 'It is right.', wrong: 'It is wrong.', unjudged: 'It is not known.' },
    needs: ['origin'],
    requires: ['X1', 'X13'],
    outcomes: ['seen'],
    sections: [
      { heading: 'Why', text: 'Because.' },
      { heading: 'Fix', text: 'Do.' },
    ],
  };
  await expect(explainCheck('X14', createCatalog(), [check])).resolves.toEqual(explanation);
});

test('a heading inside a fenced example starts no section', () => {
  const markdown =
    '# A\nintro\n## Fix\nServe:\n```md\n## Pages\n- [a](/a)\n```\nDone.\n## Source\nRFC';
  expect(readSections(markdown)).toEqual([
    { heading: 'Fix', text: 'Serve:\n```md\n## Pages\n- [a](/a)\n```\nDone.' },
    { heading: 'Source', text: 'RFC' },
  ]);
});

test.each([
  ['a check that the catalog does not have', 'X15', 'has no check X15'],
  ['a check without a README', 'X14', 'README.md cannot be read'],
])('%s is refused', async (_, id, message) => {
  await expect(explainCheck(id, createCatalog(), [check])).rejects.toThrow(message);
});
