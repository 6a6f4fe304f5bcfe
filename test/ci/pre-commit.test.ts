/** The hooks, run by pre-commit itself in a repository of their user. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findExecutable } from '../fixtures/find-executable.ts';
import { ensurePythonJudges } from '../fixtures/judges/python-judges.ts';
import { needs } from '../fixtures/needs.ts';
import { openApiDocument } from '../fixtures/sellers/seller-documents.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The sources of this checkout in the place of the published package. */
const COMMAND = `${process.execPath} ${ROOT}src/cli/main.ts`;
const PUBLISHED = 'npx --yes x402-scan@';
const RECORDED = join(ROOT, 'test/fixtures/origins/recorded/newcomer.json');

const judges = await ensurePythonJudges();
const noGit = findExecutable('git') === null ? 'no "git" on the PATH' : null;
const lack = 'unavailable' in judges ? judges.unavailable : noGit;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hooks-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  const { stdout } = await run('git', [...who, ...args], { cwd });
  return stdout.trim();
}

async function repository(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text);
  await git(path, 'init', '--quiet');
  await git(path, 'add', '.');
  await git(path, 'commit', '--quiet', '--message', 'all');
  return path;
}

/** What pre-commit prints; null is a pass. */
async function runHooks(cwd: string): Promise<string | null> {
  if ('unavailable' in judges) return null;
  const args = ['-m', 'pre_commit', 'run', '--all-files', '--verbose'];
  const env = { ...process.env, PRE_COMMIT_HOME: join(folder, 'home') };
  return run(judges.python, args, { cwd, env }).then(
    () => null,
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
}

test('every pipeline calls the version of this package', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const file of ['.pre-commit-hooks.yaml', 'action.yml', 'ci/gitlab.yml']) {
    const text = await readFile(join(ROOT, file), 'utf8');
    const called = [...text.matchAll(/x402-scan@([\d.]+)/g)].map(([, one]) => one);
    expect(new Set(called)).toEqual(new Set([version]));
  }
});

describe('pre-commit', needs(lack), () => {
  test('stops a commit of a bad document or scan, and lets a good one pass', async () => {
    const manifest = await readFile(join(ROOT, '.pre-commit-hooks.yaml'), 'utf8');
    const called = manifest.replaceAll(new RegExp(`${PUBLISHED}[\\d.]+`, 'g'), COMMAND);
    const hooks = await repository('hooks', { '.pre-commit-hooks.yaml': called });
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
    const user = await repository('user', {
      'openapi.json': String(openApiDocument('https://api.example.com').body),
      '.pre-commit-config.yaml': config('D'),
    });
    await copyFile(RECORDED, join(user, 'x402-recording.json'));
    await git(user, 'add', '.');
    expect(await runHooks(user)).toBeNull();

    const bad = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: {} };
    await writeFile(join(user, 'openapi.json'), JSON.stringify(bad));
    await writeFile(join(user, '.pre-commit-config.yaml'), config('A'));
    await git(user, 'add', '.');
    expect(await runHooks(user)).toMatch(/openapi\.json:\d+: fail S1/);
  });
});
