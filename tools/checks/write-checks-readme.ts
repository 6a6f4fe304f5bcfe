/** `npm run checks:readme` */
import { listCatalogs, loadCatalog } from '../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { writeChecksReadme } from './checks-readme.ts';
import { runTool } from './run-tool.ts';
import { ToolUsageError } from './tool-usage-error.ts';

await runTool(async () => {
  const newest = (await listCatalogs()).at(-1);
  if (newest === undefined) throw new ToolUsageError('There is no catalog to list the checks of.');
  const checks = await discoverChecks();
  await writeChecksReadme(await loadCatalog(newest, { checks }), checks);
  return [`checks/README.md has the checks of catalog ${newest}.`];
});
