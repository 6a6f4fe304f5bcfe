/**
 * Makes `dist/`, what `npm pack` ships: the command line, the library, the worker threads and the
 * checks as plain JavaScript without dependencies (Node refuses TypeScript under node_modules).
 */
import { cp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CodeSplittingOptions, rolldown } from 'rolldown';
import type { BundledCheck } from '../../src/engine/catalog/check-facts.ts';
import { type DiscoveredCheck, discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { builtinModules } from './builtin-modules.ts';
import { httpVersion1 } from './http-version-1.ts';
import { pathModules } from './path-modules.ts';
import { writeTypes } from './write-types.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DIST = join(ROOT, 'dist');
/** As path-modules.ts names what the thread of the official clients loads. */
const CLIENTS = ['payable-worker', 'payable-try-on-thread', 'payable-solana-schemes'];

/** Throws where a source does not compile or a declaration needs a package. Says the size in MB. */
export async function build(): Promise<void> {
  await rm(DIST, { recursive: true, force: true });
  const checks = await discoverChecks();
  await bundleAll(checks);
  await cp(new URL('./cli.js', import.meta.url), join(DIST, 'cli.js'));
  await cp(join(ROOT, 'catalog'), join(DIST, 'catalog'), {
    recursive: true,
    filter: (file) => !file.endsWith('.md'),
  });
  await describeChecks(checks);
  await writeTypes(ROOT, join(DIST, 'types'));
  console.error(`dist: ${((await sizeOf(DIST)) / 1e6).toFixed(1)} MB`);
}

/** What one kind of thread loads, in few files: each costs it a quarter of a millisecond. */
type Bundle = {
  readonly input: Readonly<Record<string, string>>;
  readonly codeSplitting: true | CodeSplittingOptions;
};

/**
 * What a scan loads one after the other, a file each: a group takes along what its modules import,
 * and leaves what one of higher priority has taken.
 */
const LAYERS: NonNullable<CodeSplittingOptions['groups']> = [
  { name: 'usage', test: /src\/cli\/scan-usage\.ts$/, priority: 3 },
  { name: 'threads', test: /src\/cli\/scan-command\.ts$/, priority: 2 },
  {
    name: 'scan',
    test: /src\/(cli\/scan-subject|scan\/run-scan|probe\/client\/client|engine\/catalog\/(catalog|discover-checks))\.ts$/,
    priority: 1,
  },
];

/** A thread that loads less than the others has chunks of its own: what two of them need is there twice. */
async function bundleAll(checks: readonly DiscoveredCheck[]): Promise<void> {
  const byPath = await bundle({
    input: { main: 'src/cli/main.ts', index: 'src/cli/library/index.ts' },
    codeSplitting: { groups: LAYERS },
  });
  const isOfClients = ([name]: readonly [string, string]) => CLIENTS.includes(name);
  await bundle({
    input: Object.fromEntries(byPath.filter(isOfClients)),
    codeSplitting: true,
  });
  const tasks = byPath.filter((one) => !isOfClients(one));
  const entries = checks.map(({ url }): [string, string] => {
    const file = fileURLToPath(url);
    return [relative(ROOT, file).replaceAll('\\', '/').replace(/\.ts$/, ''), file];
  });
  await bundle({
    // Piscina starts its threads with the file of this name that lies beside it.
    input: {
      worker: 'node_modules/piscina/dist/worker.js',
      ...Object.fromEntries([...tasks, ...entries]),
    },
    codeSplitting: { groups: [{ name: 'work' }] },
  });
}

/** Writes the bundle; the modules that it loads by their path, by name. */
async function bundle({ input, codeSplitting }: Bundle) {
  const byPath = new Map<string, string>();
  await using bundled = await rolldown({
    cwd: ROOT,
    input,
    platform: 'node',
    resolve: {
      alias: {
        // Its main file is UMD, whose own requires no bundler sees.
        'jsonc-parser': join(ROOT, 'node_modules/jsonc-parser/lib/esm/main.js'),
      },
    },
    transform: { define: { __dirname: 'import.meta.dirname' } },
    // Optional and native: Piscina does without it.
    external: ['@napi-rs/nice'],
    plugins: [pathModules(byPath), httpVersion1(), builtinModules()],
    onLog(level, log, handler) {
      // Circles and evals of third parties are theirs; lint finds ours.
      if (level === 'warn' && /CIRCULAR|EVAL/.test(log.code ?? '')) return;
      // Sources load some modules late, for the service, that a chunk of the package has anyway.
      if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return;
      handler(level, log);
    },
  });
  await bundled.write({
    dir: DIST,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting,
    // Names stay: a stack in a bug report can be read.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  });
  return [...byPath].map(([file, name]): [string, string] => [name, file]);
}

/** The documents that `explain` prints, and of each bundled check its source's digest and what it says of itself. */
async function describeChecks(checks: readonly DiscoveredCheck[]): Promise<void> {
  const bundled: Record<string, BundledCheck> = {};
  for (const { folder, url, digest, definition } of checks) {
    const from = fileURLToPath(folder);
    await cp(join(from, 'README.md'), join(DIST, relative(ROOT, from), 'README.md'));
    const file = relative(join(ROOT, 'checks'), fileURLToPath(url)).replaceAll('\\', '/');
    bundled[file.replace(/\.ts$/, '.js')] = { digest, definition };
  }
  await writeFile(join(DIST, 'checks/checks.json'), `${JSON.stringify(bundled, null, 1)}\n`);
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
