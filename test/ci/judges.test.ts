/** Outside judges of the files that pipelines read: schemas of actions, workflows and hooks. */
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
const WORKFLOW = '.github/workflows/publish.yml';

const validator = await ensureJudge({
  '@action-validator/core': '0.6.0',
  '@action-validator/cli': '0.6.0',
});
const python = await ensurePythonJudges();

describe('by schema', needs('unavailable' in validator ? validator.unavailable : null), () => {
  test.each(['action.yml', WORKFLOW])('%s is valid', async (file) => {
    if ('unavailable' in validator) return;
    await run(process.execPath, [validator.bin('action-validator'), file], { cwd: ROOT });
  });
});

describe('by its reader', needs('unavailable' in python ? python.unavailable : null), () => {
  test('pre-commit reads the hooks', async () => {
    if ('unavailable' in python) return;
    const args = ['-m', 'pre_commit', 'validate-manifest', '.pre-commit-hooks.yaml'];
    await run(python.python, args, { cwd: ROOT });
  });
});

test('the template of GitLab declares each input that it uses, and uses each', async () => {
  const text = await readFile(join(ROOT, 'ci/gitlab.yml'), 'utf8');
  const [header, jobs] = parseAllDocuments(text).map((one) => one.toJS());
  const used = [...text.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g)].map(([, name]) => name);
  expect(Object.keys(header.spec.inputs).sort()).toEqual([...new Set(used)].sort());
  expect(Object.keys(jobs['x402-scan'].artifacts.reports)).toEqual(['codequality', 'junit']);
});
