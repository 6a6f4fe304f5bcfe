import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildOnce } from '../build-once.ts';
import { findExecutable } from '../find-executable.ts';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const SOURCES = ['main.go', 'go.mod', 'go.sum'];
// The one that go.mod asks for; older ones stop at the file, with words that do not say so.
const OLDEST_GO = { major: 1, minor: 22 };
const BUILD_TIMEOUT_MS = 600_000;

/** The path of the built server, or what this machine lacks. 50 s the first time, then nothing. */
export async function buildServer(): Promise<{ path: string } | { unavailable: string }> {
  const go = findExecutable('go');
  if (go === null) {
    return { unavailable: 'no MONGODB_URI, and no "go" on the PATH to build a server with' };
  }
  const { stdout } = await run(go, ['env', 'GOVERSION', 'GOOS', 'GOARCH']);
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(stdout) ?? [];
  if (Number(major) <= OLDEST_GO.major && Number(minor) < OLDEST_GO.minor) {
    return {
      unavailable: `no MONGODB_URI, and go ${major}.${minor} is older than the 1.22 that the server needs`,
    };
  }

  const hash = createHash('sha256').update(stdout);
  for (const file of SOURCES) hash.update(await readFile(`${FOLDER}${file}`));
  const name = `mongo-server/${hash.digest('hex').slice(0, 24)}`;
  try {
    return { path: await buildOnce(name, (draft) => compile(go, draft)) };
  } catch (error) {
    const [why = ''] = String(error instanceof Error ? error.message : error)
      .split('\n')
      .slice(-2);
    return { unavailable: `no MONGODB_URI, and the server did not build: ${why.trim()}` };
  }
}

async function compile(go: string, output: string): Promise<void> {
  const flags = ['-trimpath', '-buildvcs=false', '-mod=readonly', '-tags=ferretdb_no_postgresql'];
  await run(go, ['build', ...flags, '-o', output, '.'], {
    cwd: FOLDER,
    timeout: BUILD_TIMEOUT_MS,
    // No C compiler is needed, and no other Go is fetched.
    env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: '' },
  });
}
