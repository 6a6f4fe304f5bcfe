/** `npm run check:new -- <ID> <title>` */
import { runTool } from './run-tool.ts';
import { scaffoldCheck } from './scaffold-check.ts';
import { ToolUsageError } from './tool-usage-error.ts';

await runTool(async () => {
  const [id, title, ...more] = process.argv.slice(2);
  if (id === undefined || title === undefined || more.length > 0) {
    throw new ToolUsageError('usage: npm run check:new -- <ID> <title>, such as S13 sitemap');
  }
  await scaffoldCheck(id, title);
  const folder = `checks/${id}-${title}`;
  return [
    `${folder} is made. It fails npm run lint until it is real:`,
    `1. ${folder}/README.md: why, the primary source, the rule, the fix; outcomes in precedence.`,
    `2. ${folder}/v1.ts: OUTCOMES as a table, says, needs, requires; evaluate names a row, one return a finding.`,
    `3. ${folder}/cases.ts: a case for each outcome, both sides of each limit.`,
    `4. npx vitest run test/checks, until each case says what it should.`,
    `5. npm run catalog:new -- --replace S12=${id} (a catalog runs 25 checks: say which one goes).`,
    '6. CONTRIBUTING.md lists the places outside checks/ that name a check: look through them.',
  ];
});
