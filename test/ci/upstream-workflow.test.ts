/** The weekly workflow compares our tables with upstream, and opens or closes an issue by the result. */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { folderPerFile } from '../fixtures/temp-folder.ts';

const run = promisify(execFile);
const FILE = fileURLToPath(new URL('../../.github/workflows/upstream.yml', import.meta.url));

type Step = { readonly name?: string; readonly run?: string };
const workflow = parse(await readFile(FILE, 'utf8'));
const steps: readonly Step[] = [...workflow.jobs.compare.steps, ...workflow.jobs.report.steps];

const folder = folderPerFile();

/** Runs a step as GitHub does, with our programs instead of npm and gh. */
async function runStep(name: string, programs: Readonly<Record<string, string>>, differences = '') {
  const temp = await mkdtemp(folder.at('step-'));
  const bin = join(temp, 'bin');
  await mkdir(bin);
  for (const [program, script] of Object.entries(programs)) {
    await writeFile(join(bin, program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  await writeFile(join(temp, 'differences'), differences);
  const script = steps.find((step) => step.name === name)?.run ?? 'exit 99';
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    RUNNER_TEMP: temp,
    LOG: join(temp, 'log'),
    TITLE: workflow.env.TITLE,
  };
  const failure = await run('bash', ['-eo', 'pipefail', '-c', script], { env, cwd: temp }).then(
    () => null,
    (error: unknown) => error,
  );
  const read = (file: string) => readFile(join(temp, file), 'utf8').catch(() => '');
  return {
    isDone: failure === null,
    log: await read('log'),
    body: await read('body'),
    differences: await read('differences'),
  };
}

test('the workflow runs weekly, and runs the packages of others without permissions', () => {
  expect(workflow.on.schedule).toEqual([{ cron: expect.stringMatching(/^\d+ \d+ \* \* [0-6]$/) }]);
  expect(workflow.permissions).toEqual({});
  const { compare, report } = workflow.jobs;
  expect(compare.permissions).toEqual({ contents: 'read' });
  expect(JSON.stringify(compare)).not.toMatch(/github\.token|secrets\.|GH_TOKEN/);
  expect(report).toMatchObject({ needs: 'compare', permissions: { issues: 'write' } });
  const used = report.steps.flatMap(({ uses = '' }: { uses?: string }) =>
    uses === '' ? [] : [uses.split('@')[0]],
  );
  expect(used).toEqual(['actions/download-artifact']);
});

test('the job that may publish downloads no program, and publishes the package of the job that tests', async () => {
  const publishFile = FILE.replace('upstream.yml', 'publish.yml');
  const { permissions, jobs } = parse(await readFile(publishFile, 'utf8'));
  expect(permissions).toEqual({});
  expect(jobs.test.permissions).toEqual({ contents: 'read' });
  expect(jobs.publish).toMatchObject({ needs: 'test', permissions: { 'id-token': 'write' } });
  const scripts = jobs.publish.steps.map(({ run: script = '' }: Step) => script).join('\n');
  expect(scripts).not.toMatch(/npm (?:ci|install|run|test)|npx|\.ci\/|node tools/);
  expect(scripts).toMatch(/npm publish [^\n]*--ignore-scripts/);
  expect(scripts).not.toMatch(/curl|wget|\bgh\b|\.\/(?!\*\.tgz)/);
  for (const { uses = '@' } of [...jobs.test.steps, ...jobs.publish.steps]) {
    if (uses !== '@') expect(uses).toMatch(/@[0-9a-f]{40}$/);
  }
});

describe('a comparison', () => {
  test.each([
    [0, '', true],
    [1, 'one line', true],
    [2, '', false],
  ])(
    'that exits with %i passes its output on, and fails the step only with code 2',
    async (code, line, isDone) => {
      const npm = `[ -z "${line}" ] || echo "${line}"\nexit ${code}`;
      const step = await runStep('Compare', { npm });
      expect(step.isDone).toBe(isDone);
      expect(step.differences.trim()).toBe(line);
    },
  );
});

describe('the issue', () => {
  const fakeGh = (openIssue: string) =>
    `if [ "$2" = list ]; then echo "${openIssue}"; else echo "$*" >> "$LOG"; fi`;
  const issueStep = 'Open, update or close the issue';

  test.each([
    [
      'is opened if the tables differ',
      '',
      'a differs',
      /^issue create --title The tables differ .* --body-file/,
    ],
    [
      'is updated if it is open and the tables differ',
      '7',
      'a differs',
      /^issue edit 7 --body-file/,
    ],
    ['is closed if the tables agree again', '7', '', /^issue close 7 /],
    ['is not opened if the tables agree', '', '', /^$/],
  ])('%s', async (_, openIssue, differences, expected) => {
    const step = await runStep(issueStep, { gh: fakeGh(openIssue) }, differences);
    expect(step.isDone).toBe(true);
    expect(step.log).toMatch(expected);
    expect(step.log.trim().split('\n')).toHaveLength(1);
    if (differences !== '') expect(step.body).toContain(differences);
  });

  test('holds no text that ends its block of code', async () => {
    const step = await runStep(
      issueStep,
      { gh: fakeGh('') },
      'a\n```\n@somebody `b`\u001b[31m\r\n',
    );
    expect(step.body.match(/`{3}/g)).toHaveLength(2);
    expect(step.body).toContain('@somebody b[31m\n');
  });
});
