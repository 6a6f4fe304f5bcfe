/**
 * The manifest that `npm pack` ships. The package is a bundle and has few of the checkout's dependencies.
 * `pack:before` replaces package.json with a short one, and `pack:after` restores it. If a pack was killed in
 * between, the next pack restores it.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MANIFEST = join(ROOT, 'package.json');
const CHECKOUT_COPY = join(ROOT, '.package.checkout.json');

/** Members about building and testing the checkout; the package leaves them out. */
const CHECKOUT_MEMBERS = new Set([
  'imports',
  'scripts',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'overrides',
]);

/** Packages that are not bundled, because Piscina loads a file of its own by path. */
export const SHIPPED_DEPENDENCIES: string[] = ['piscina'];

const OWNER_PLACEHOLDER = 'io.github.OWNER';

export async function shipManifest(): Promise<void> {
  await restoreManifest();
  const text = await readFile(MANIFEST, 'utf8');
  const manifest: Record<string, unknown> = JSON.parse(text);
  const shipped = Object.entries(manifest)
    .filter(([name, value]) => !CHECKOUT_MEMBERS.has(name) && !isUnnamed(name, value))
    .concat(Object.entries({ dependencies: pickShipped(manifest['dependencies']) }));
  await writeFile(CHECKOUT_COPY, text, { flag: 'wx' });
  const draft = `${MANIFEST}.draft`;
  await writeFile(draft, `${JSON.stringify(Object.fromEntries(shipped), null, 2)}\n`);
  await rename(draft, MANIFEST);
}

function pickShipped(dependencies: unknown): Readonly<Record<string, unknown>> {
  const all = Object.entries({ ...(typeof dependencies === 'object' ? dependencies : null) });
  return Object.fromEntries(all.filter(([name]) => SHIPPED_DEPENDENCIES.includes(name)));
}

/** True for a name whose owner `name-package.ts` has not filled in. */
function isUnnamed(name: string, value: unknown): boolean {
  return name === 'mcpName' && String(value).startsWith(`${OWNER_PLACEHOLDER}/`);
}

/** Does nothing if package.json was not replaced. */
export async function restoreManifest(): Promise<void> {
  const text = await readFile(CHECKOUT_COPY, 'utf8').catch(() => null);
  if (text === null) return;
  await writeFile(`${MANIFEST}.draft`, text);
  await rename(`${MANIFEST}.draft`, MANIFEST);
  await rm(CHECKOUT_COPY);
}
