/** pre-commit runs our hooks in the repository of a user. */

import { execFile } from 'node:child_process';
import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { findExecutable } from '../fixtures/find-executable.ts';
import { ensurePythonJudges } from '../fixtures/judges/python-judges.ts';
import { needs } from '../fixtures/needs.ts';
import { openApiDocument } from '../fixtures/sellers/seller-documents.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCRIPT = 'ci/x402-scan.sh';
const WORKFLOWS = ['.github/workflows/publish.yml', '.github/workflows/upstream.yml'];
const RECORDING = join(ROOT, 'test/fixtures/origins/recorded/newcomer.json');

const judges = await ensurePythonJudges();
const missingGit = findExecutable('git') === null ? 'no "git" on the PATH' : null;
const missingTool = 'unavailable' in judges ? judges.unavailable : missingGit;

const folder = folderPerFile();

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  const { stdout } = await run('git', [...author, ...args], { cwd });
  return stdout.trim();
}

async function createRepository(
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const path = folder.at(name);
  for (const [file, text] of Object.entries(files)) {
    await chmod(await folder.write(`${name}/${file}`, text), 0o755);
  }
  await git(path, 'init', '--quiet');
  await git(path, 'add', '.');
  await git(path, 'commit', '--quiet', '--message', 'all');
  return path;
}

/** Returns the output of pre-commit; null if it passes. */
async function runHooks(cwd: string): Promise<string | null> {
  if ('unavailable' in judges) return null;
  const args = ['-m', 'pre_commit', 'run', '--all-files', '--verbose'];
  // This test's repository of hooks is not a whole checkout.
  const command = `${process.execPath} ${ROOT}src/cli/main.ts`;
  const home = { PRE_COMMIT_HOME: folder.at('home'), SCANNER_COMMAND: command };
  const env = { ...process.env, ...home };
  return run(judges.python, args, { cwd, env }).then(
    () => null,
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
}

test('no pipeline runs a package from a registry, and each action is pinned by commit digest', async () => {
  for (const file of ['.pre-commit-hooks.yaml', 'action.yml', 'ci/gitlab.yml', ...WORKFLOWS]) {
    const text = await readFile(join(ROOT, file), 'utf8');
    expect(text).not.toMatch(/npx|x402-scan@/);
    const usedActions = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    for (const action of usedActions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40}$/);
  }
});

describe('pre-commit', needs(missingTool), () => {
  test('stops a commit with a bad document or scan, and lets a good commit pass', async () => {
    const manifest = await readFile(join(ROOT, '.pre-commit-hooks.yaml'), 'utf8');
    const hooks = await createRepository('hooks', {
      '.pre-commit-hooks.yaml': manifest,
      [SCRIPT]: await readFile(join(ROOT, SCRIPT), 'utf8'),
    });
    const rev = await git(hooks, 'rev-parse', 'HEAD');
    const config = (grade: string) => `
repos:
  - repo: ${hooks}
    rev: ${rev}
    hooks:
      - id: x402-openapi
      - id: x402-scan
        args: [--from, x402-recording.json, --min-grade, ${grade}]
`;
    const user = await createRepository('user', {
      'openapi.json': String(openApiDocument('https://api.example.com').body),
      '.pre-commit-config.yaml': config('D'),
    });
    await copyFile(RECORDING, join(user, 'x402-recording.json'));
    await git(user, 'add', '.');
    expect(await runHooks(user)).toBeNull();

    const bad = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: {} };
    await writeFile(join(user, 'openapi.json'), JSON.stringify(bad));
    await writeFile(join(user, '.pre-commit-config.yaml'), config('A'));
    await git(user, 'add', '.');
    expect(await runHooks(user)).toMatch(/openapi\.json:\d+: fail S1/);
  });
});
