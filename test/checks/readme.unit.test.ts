/** checks/README.md must match the checks. `npm run checks:readme` writes it. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { listCatalogs, loadCatalog } from '../../src/scanner/engine/catalog/catalog.ts';
import { CHECKS_FOLDER, discoverChecks } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { toChecksReadme } from '../../tools/checks/checks-readme.ts';

const HOW_TO_UPDATE = 'run npm run checks:readme';

test('checks/README.md is what npm run checks:readme writes', async () => {
  const checks = await discoverChecks();
  const catalog = await loadCatalog((await listCatalogs()).at(-1) ?? '', { checks });
  const text = toChecksReadme(catalog, checks);
  expect(text.match(/^\| \[[PSD]\d/gm)).toHaveLength(25);
  expect(await readFile(new URL('README.md', CHECKS_FOLDER), 'utf8'), HOW_TO_UPDATE).toBe(text);
});
