import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildOnce } from '../../build-once.ts';
import { findExecutable } from '../../find-executable.ts';

const run = promisify(execFile);
const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const INSTALL_TIMEOUT_MS = 600_000;
/** Says which Python it is and fails where one cannot make environments; 3.10 is x402's oldest. */
const PROBE = 'import ensurepip, sys, venv; assert sys.version_info >= (3, 10); print(sys.version)';

/**
 * A Python with the official `x402` package and its clients, made once from PyPI (40 s, then
 * nothing), or what this machine lacks.
 */
export async function ensurePythonEnv(): Promise<{ python: string } | { unavailable: string }> {
  const python = findExecutable('python3');
  if (python === null) return { unavailable: 'no "python3" on the PATH' };

  let version: string;
  try {
    version = (await run(python, ['-c', PROBE])).stdout;
  } catch (error) {
    return { unavailable: `python3 is older than 3.10 or has no venv (${lastLine(error)})` };
  }
  const hash = createHash('sha256')
    .update(version)
    .update(await readFile(REQUIREMENTS));
  const name = `python/${hash.digest('hex').slice(0, 24)}`;
  try {
    const folder = await buildOnce(name, (draft) => install(python, draft));
    return { python: `${folder}/bin/python` };
  } catch (error) {
    return { unavailable: `the packages of PyPI could not be installed (${lastLine(error)})` };
  }
}

/** The folder is renamed when it is whole; its interpreter is a link and does not mind. */
async function install(python: string, folder: string): Promise<void> {
  await run(python, ['-m', 'venv', folder]);
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '-r',
    REQUIREMENTS,
  ];
  await run(`${folder}/bin/python`, pip, { timeout: INSTALL_TIMEOUT_MS });
}

function lastLine(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error).trimEnd();
  return text.slice(text.lastIndexOf('\n') + 1);
}
