/**
 * The manifest that `npm pack` ships. The checkout's own lists what the service and its tests need;
 * the package is a bundle, needs next to none of it, and is to say so. `pack:before` puts the short one in place,
 * `pack:after` the checkout's back; a pack that was killed in between is mended by the next one.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MANIFEST = join(ROOT, 'package.json');
const KEPT = join(ROOT, '.package.checkout.json');

/** What says how to build and test here, and what to install for it. */
const OF_THE_CHECKOUT = new Set([
  'scripts',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'overrides',
]);

/** Packages that are not bundled: Piscina loads a file of its own by its path. */
export const SHIPPED_DEPENDENCIES: string[] = ['piscina'];

const UNNAMED = 'io.github.OWNER';

export async function shipManifest(): Promise<void> {
  await restoreManifest();
  const text = await readFile(MANIFEST, 'utf8');
  const manifest: Record<string, unknown> = JSON.parse(text);
  const shipped = Object.entries(manifest)
    .filter(([name, value]) => !OF_THE_CHECKOUT.has(name) && !isUnnamed(name, value))
    .concat(Object.entries({ dependencies: shippedOf(manifest['dependencies']) }));
  await writeFile(KEPT, text, { flag: 'wx' });
  const draft = `${MANIFEST}.draft`;
  await writeFile(draft, `${JSON.stringify(Object.fromEntries(shipped), null, 2)}\n`);
  await rename(draft, MANIFEST);
}

function shippedOf(dependencies: unknown): Readonly<Record<string, unknown>> {
  const all = Object.entries({ ...(typeof dependencies === 'object' ? dependencies : null) });
  return Object.fromEntries(all.filter(([name]) => SHIPPED_DEPENDENCIES.includes(name)));
}

/** A package that `name-package.ts` has not named says nothing of an owner. */
function isUnnamed(name: string, value: unknown): boolean {
  return name === 'mcpName' && String(value).startsWith(`${UNNAMED}/`);
}

/** Does nothing where the checkout's manifest is in place. */
export async function restoreManifest(): Promise<void> {
  const text = await readFile(KEPT, 'utf8').catch(() => null);
  if (text === null) return;
  await writeFile(`${MANIFEST}.draft`, text);
  await rename(`${MANIFEST}.draft`, MANIFEST);
  await rm(KEPT);
}
