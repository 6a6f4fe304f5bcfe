/** Opens what is compared: the packages of a folder by their public entries, and a checkout of the specifications. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { messageOf } from '../../src/scanner/model/redact.ts';
import { isJsonObject, type JsonValue } from '../../src/scanner/parse/json/json.ts';

/** Names the folder or flag that cannot be used, on one line. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage';
}

export type Module = Readonly<Record<string, unknown>>;

export type OfficialPackage = {
  /** "@x402/evm" */
  readonly name: string;
  /** Public entries, "." and "./exact/client" among them, with what each exports. */
  readonly entries: ReadonlyMap<string, Module>;
  /** Entries that could not be loaded, each with the reason. */
  readonly failed: ReadonlyMap<string, string>;
  /** True if a dependency is not installed. */
  readonly lacksDependency: boolean;
};

export type Packages = readonly OfficialPackage[];

/** Only packages with such an entry are loaded. The others have no client, and need further dependencies. */
const CLIENT_ENTRY = /^\.\/[^/]+\/client$/;
/** Entries with tables of assets and networks, and the clients and servers of schemes. */
const READ_ENTRIES = /^\.(?:\/v1|\/[^/]+\/(?:client|server))?$/;
const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url));

/**
 * Takes a folder with node_modules, node_modules itself, or a copy of its folder @x402. Throws BadUsage
 * for a folder without a package.
 */
export async function openPackages(folder: string): Promise<Packages> {
  const places = [join(folder, 'node_modules', '@x402'), join(folder, '@x402'), folder];
  for (const place of places) {
    const manifests = await readManifests(resolve(place));
    if (manifests.length === 0) continue;
    const packages = await Promise.all(manifests.map(loadPackage));
    const isWhole = packages.every(({ lacksDependency }) => !lacksDependency);
    return isWhole ? packages : loadCopies(manifests);
  }
  throw new BadUsage(`${folder} holds no package @x402/*`);
}

type Manifest = { readonly name: string; readonly folder: string; readonly exports: JsonValue };

async function readManifests(place: string): Promise<readonly Manifest[]> {
  const names = await readdir(place).catch(() => []);
  const manifests = names.toSorted().map(async (name): Promise<readonly Manifest[]> => {
    const folder = join(place, name);
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => null);
    const manifest: JsonValue = text === null ? null : JSON.parse(text);
    const packageName = isJsonObject(manifest) ? manifest['name'] : null;
    if (!isJsonObject(manifest) || packageName !== `@x402/${name}`) return [];
    return [{ name: packageName, folder, exports: manifest['exports'] ?? {} }];
  });
  return (await Promise.all(manifests)).flat();
}

/** Loads a copy inside this checkout, where packages without dependencies of their own find them. */
async function loadCopies(manifests: readonly Manifest[]): Promise<Packages> {
  await mkdir(CACHE, { recursive: true });
  const copy = await mkdtemp(`${CACHE}/upstream-`);
  try {
    const copied = manifests.map(async (manifest) => {
      const folder = join(copy, 'node_modules', manifest.name);
      await cp(manifest.folder, folder, { recursive: true, dereference: true });
      return { ...manifest, folder };
    });
    return await Promise.all((await Promise.all(copied)).map(loadPackage));
  } finally {
    await rm(copy, { recursive: true });
  }
}

async function loadPackage({ name, folder, exports }: Manifest): Promise<OfficialPackage> {
  const entries = new Map<string, Module>();
  const failed = new Map<string, string>();
  let lacksDependency = false;
  const targets = isJsonObject(exports) ? Object.entries(exports) : [];
  const hasClient = targets.some(([entry]) => CLIENT_ENTRY.test(entry));
  for (const [entry, target] of hasClient ? targets : []) {
    const file = READ_ENTRIES.test(entry) ? findTarget(target) : null;
    if (file === null) continue;
    try {
      entries.set(entry, await import(pathToFileURL(join(folder, file)).href));
    } catch (error) {
      const [reason = ''] = messageOf(error).split('\n');
      failed.set(entry, reason);
      lacksDependency ||=
        error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    }
  }
  return { name, entries, failed, lacksDependency };
}

/** The first matching condition wins, as in Node. */
function findTarget(target: JsonValue | undefined): string | null {
  if (typeof target === 'string') return target;
  if (!isJsonObject(target)) return null;
  for (const [condition, value] of Object.entries(target)) {
    if (!['node', 'import', 'default'].includes(condition)) continue;
    const inner = findTarget(value);
    if (inner !== null) return inner;
  }
  return null;
}

/** Takes a checkout, or its folder specs. Returns the checkout. Throws BadUsage for another folder. */
export async function findCheckout(folder: string): Promise<string> {
  const path = resolve(folder);
  const isFolder = async (path: string) =>
    (await stat(path).catch(() => null))?.isDirectory() ?? false;
  if (await isFolder(join(path, 'specs', 'schemes'))) return path;
  const isSpecs = basename(path) === 'specs' && (await isFolder(join(path, 'schemes')));
  if (isSpecs) return dirname(path);
  throw new BadUsage(`${folder} has no specs/schemes`);
}
