/** The README shows the report that the command prints, and lists only flags that exist. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCli } from './run-cli.ts';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
/** This line ends the report in the README. The report that the command prints is longer. */
const END_OF_EXCERPT = '\n  …\n';

/** Returns the arguments of the first scan command in the README, without the comment behind it. */
function readFirstScanArgs(): readonly string[] {
  const [, args = ''] = /^npm run -s scan -- (.+?) +#/m.exec(README) ?? [];
  return args.split(' ');
}

test('the README shows the report that its first command prints', async () => {
  const [, block = ''] = /\n\n```\n([^`]*?)```\n/.exec(README) ?? [];
  expect(block).toContain(END_OF_EXCERPT);
  const { code, stdout } = await runCli(['scan', ...readFirstScanArgs()]);
  expect(code).toBe(0);
  expect(stdout.trimStart()).toMatch(/^Yes: /);
  expect(stdout.startsWith(`\n${block.slice(0, block.indexOf(END_OF_EXCERPT))}`)).toBe(true);
});

test('each flag in the README is a flag of the command', async () => {
  const { stdout } = await runCli(['scan', '--help']);
  const table = README.split('| flag | does |')[1]?.split('\n\n')[0] ?? '';
  const listedFlags = [...table.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag);
  expect(listedFlags.length).toBeGreaterThan(10);
  expect(listedFlags.filter((flag) => flag !== undefined && !stdout.includes(flag))).toEqual([]);
});
