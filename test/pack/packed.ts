/** The package as `npm pack` makes it, in a folder of its own, as `npx` would have it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 240_000;
/** Folders that are built anew, or that belong to another checkout. */
const LEFT_OUT = new Set(['node_modules', '.git', '.cache', 'data', 'dist', 'coverage']);

export type Packed = {
  readonly tarball: string;
  /** A folder in which the tarball is installed, and what it depends on. */
  readonly folder: string;
  /** The manifest of the copy that was packed, after packing: what `npm pack` left behind. */
  readonly checkout: string;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Packs a copy of the checkout: npm puts another manifest in place while it packs. */
export async function packCheckout(): Promise<Packed> {
  const temp = await realpath(await mkdtemp(join(tmpdir(), 'x402-scan-pack-')));
  const checkout = join(temp, 'checkout');
  await mkdir(checkout);
  for (const name of await readdir(ROOT)) {
    if (!LEFT_OUT.has(name)) await cp(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  await run('npm', ['pack', '--pack-destination', temp], { cwd: checkout, timeout: TIMEOUT_MS });
  const tarball = (await readdir(temp)).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack made no tarball.');
  const folder = join(temp, 'empty');
  await mkdir(folder);
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', join(temp, tarball)];
  await run('npm', install, { cwd: folder, timeout: TIMEOUT_MS });
  return {
    tarball: join(temp, tarball),
    folder,
    checkout,
    [Symbol.asyncDispose]: () => rm(temp, { recursive: true, force: true }),
  };
}
