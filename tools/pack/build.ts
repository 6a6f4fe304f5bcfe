/**
 * Writes `dist/` for `npm pack`: command line, library, worker threads and checks as plain JavaScript,
 * because Node refuses TypeScript under node_modules.
 */
import { cp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import {
  DIGESTS_FILE,
  type DiscoveredCheck,
  discoverChecks,
} from '../../src/scanner/engine/catalog/discover-checks.ts';
import { SHIPPED_DEPENDENCIES } from './manifest.ts';
import { pathModules } from './path-modules.ts';
import { writeTypes } from './write-types.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DIST = join(ROOT, 'dist');
/** The version in `engines` of package.json. The bundler compiles newer syntax down to it. */
const TARGET = 'node22.19';

/** Throws if a source does not compile or a declaration needs a package. Prints the size in MB. */
export async function build(): Promise<void> {
  await rm(DIST, { recursive: true, force: true });
  const checks = await discoverChecks();
  await bundle(checks);
  await cp(new URL('./cli.js', import.meta.url), join(DIST, 'cli.js'));
  await cp(join(ROOT, 'src/scanner/patches/code'), join(DIST, 'patches'), { recursive: true });
  await cp(join(ROOT, 'catalog'), join(DIST, 'catalog'), {
    recursive: true,
    filter: (file) => !file.endsWith('.md'),
  });
  await describeChecks(checks);
  await writeTypes(ROOT, join(DIST, 'types'));
  console.error(`dist: ${((await measureFolder(DIST)) / 1e6).toFixed(1)} MB`);
}

function openBundle(checks: readonly DiscoveredCheck[]) {
  return rolldown({
    cwd: ROOT,
    input: {
      main: 'src/cli/main.ts',
      index: 'src/cli/library/index.ts',
      ...Object.fromEntries(checks.map(({ url }) => [toBundleName(url), fileURLToPath(url)])),
    },
    platform: 'node',
    external: SHIPPED_DEPENDENCIES,
    // The main file of jsonc-parser is UMD, whose requires a bundler does not follow.
    resolve: { mainFields: ['module', 'main'] },
    transform: { target: TARGET },
    plugins: [pathModules(ROOT)],
    onLog(level, log, handler) {
      // Warnings about cycles and eval in packages are ignored; lint reports ours.
      if (level === 'warn' && /CIRCULAR|EVAL/.test(log.code ?? '')) return;
      // Some modules are imported lazily for the service; in the package they share a chunk.
      if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return;
      handler(level, log);
    },
  });
}

async function bundle(checks: readonly DiscoveredCheck[]): Promise<void> {
  const bundled = await openBundle(checks);
  await bundled.write({
    dir: DIST,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // Names are kept so that the stack in a bug report is readable.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  });
  await bundled.close();
}

/** The source files of this repository that the package holds, as paths from its root. */
export async function listPackedSources(): Promise<readonly string[]> {
  const bundled = await openBundle(await discoverChecks());
  const { output } = await bundled.generate({ format: 'esm' });
  await bundled.close();
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
  const paths = modules.map((id) => relative(ROOT, id).replaceAll('\\', '/'));
  return [...new Set(paths)]
    .filter((path) => /^(?:src|plugins|checks|test|tools)\//.test(path))
    .sort();
}

/** "checks/P6-price-integrity/v2" */
function toBundleName(url: string): string {
  return relative(ROOT, fileURLToPath(url)).replaceAll('\\', '/').replace(/\.ts$/, '');
}

/** Copies the READMEs that `explain` prints, and writes the digests by which catalogs name check files. */
async function describeChecks(checks: readonly DiscoveredCheck[]): Promise<void> {
  const digests: Record<string, string> = {};
  for (const { folder, url, digest } of checks) {
    const from = fileURLToPath(folder);
    await cp(join(from, 'README.md'), join(DIST, relative(ROOT, from), 'README.md'));
    digests[`${toBundleName(url).replace(/^checks\//, '')}.js`] = digest;
  }
  await writeFile(join(DIST, 'checks', DIGESTS_FILE), `${JSON.stringify(digests, null, 1)}\n`);
}

async function measureFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
