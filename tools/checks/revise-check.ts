/** `npm run check:revise -- <ID>` */
import { CATALOG_FOLDER } from '../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { readPublishedChecks } from '../lint/published-unchanged.ts';
import { copyCheckVersion } from './copy-check-version.ts';
import { runTool } from './run-tool.ts';
import { ToolUsageError } from './tool-usage-error.ts';

await runTool(async () => {
  const [id, ...more] = process.argv.slice(2);
  if (id === undefined || more.length > 0) {
    throw new ToolUsageError('usage: npm run check:revise -- <ID>, such as P6');
  }
  const published = await readPublishedChecks(CATALOG_FOLDER);
  const { from, version } = await copyCheckVersion(id, await discoverChecks(), published);
  const folder = `checks/${from.id}-${from.title}`;
  return [
    `${folder}/v${version}.ts is a copy of v${from.version}. Next:`,
    `1. Change v${version}.ts; leave v${from.version}.ts as it is.`,
    `2. ${folder}/cases.ts: add the cases that tell the two apart, with "versions"; widen those of v${from.version} that still hold.`,
    `3. ${folder}/README.md: the rule as it is now, and the last line of History: what moves, and why.`,
    '4. npx vitest run test/checks; then npm run catalog:new, which shows the grades that move; before and after go into catalog/CHANGELOG.md.',
  ];
});
