/** Results of slow builds for tests (compiled contracts, a server, a Python environment). */
import { randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Goes with `node_modules`, is ignored by git, and is shared by all suites of this checkout. */
const CACHE = fileURLToPath(new URL('../node_modules/.cache/x402-scanner/', import.meta.url));
const POLL_MS = 200;

/**
 * The path of a finished build, made by `build` if it is not there yet. `name` must contain a hash
 * of all that goes in. Suites start side by side, in processes of their own: one builds and the
 * others wait, and what is at the path is always whole, because it is renamed into place.
 */
export async function buildOnce(
  name: string,
  build: (draft: string) => Promise<void>,
): Promise<string> {
  const target = `${CACHE}${name}`;
  await mkdir(dirname(target), { recursive: true });
  while (!(await exists(target))) {
    const lock = `${target}.lock`;
    if (!(await takeLock(lock))) {
      await wait(POLL_MS);
      continue;
    }
    try {
      await buildInto(target, build);
    } finally {
      await rm(lock, { force: true });
    }
  }
  return target;
}

async function buildInto(target: string, build: (draft: string) => Promise<void>): Promise<void> {
  if (await exists(target)) return;
  const draft = `${target}.${randomUUID()}.draft`;
  try {
    await build(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    // Left by a builder that was killed. Two who remove it at once build twice, which is only slow.
    if (!(await ownerIsAlive(lock))) await rm(lock, { force: true });
    return false;
  }
}

async function ownerIsAlive(lock: string): Promise<boolean> {
  const pid = Number(await readFile(lock, 'utf8').catch(() => ''));
  // Empty between its creation and the first byte: give the owner until the next look.
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
