/** `npm run checks:readme` */
import { writeFile } from 'node:fs/promises';
import { listCatalogs, loadCatalog } from '../../src/engine/catalog/catalog.ts';
import { CHECKS_FOLDER, discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { checksReadme } from './checks-readme.ts';
import { runTool } from './run-tool.ts';
import { ToolUsageError } from './tool-usage-error.ts';

await runTool(async () => {
  const newest = (await listCatalogs()).at(-1);
  if (newest === undefined) throw new ToolUsageError('There is no catalog to list the checks of.');
  const checks = await discoverChecks();
  const text = checksReadme(await loadCatalog(newest, { checks }), checks);
  await writeFile(new URL('README.md', CHECKS_FOLDER), text);
  return [`checks/README.md lists the checks of catalog ${newest}.`];
});
