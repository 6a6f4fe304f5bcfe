/**
 * The manifest that `npm pack` ships. The package is a bundle and has few of the checkout's dependencies.
 * `pack:before` replaces package.json with a short one and `pack:after` restores it; the next pack repairs
 * one that was killed in between.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MANIFEST = join(ROOT, 'package.json');
const KEPT = join(ROOT, '.package.checkout.json');

/** Members about building and testing the checkout; the package leaves them out. */
const OF_THE_CHECKOUT = new Set([
  'scripts',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'overrides',
]);

/** Packages that are not bundled, because Piscina loads a file of its own by path. */
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

/** True for placeholders of the owner that `name-package.ts` has not replaced. */
function isUnnamed(name: string, value: unknown): boolean {
  return name === 'mcpName' && String(value).startsWith(`${UNNAMED}/`);
}

/** Does nothing if package.json is the checkout's. */
export async function restoreManifest(): Promise<void> {
  const text = await readFile(KEPT, 'utf8').catch(() => null);
  if (text === null) return;
  await writeFile(`${MANIFEST}.draft`, text);
  await rename(`${MANIFEST}.draft`, MANIFEST);
  await rm(KEPT);
}
