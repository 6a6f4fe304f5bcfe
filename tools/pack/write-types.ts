/** Writes the type declarations that the library entry reaches. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';

const ENTRY = 'src/cli/library/index.d.ts';
const RELATIVE_IMPORT = /((?:from |import\()['"])(\.{1,2}\/[^'"]+)\.ts(?=['"])/g;

/**
 * Follows the imports from the library entry. Throws on compiler errors, and if a declaration imports a package, because
 * the bundle ships no packages.
 */
export async function writeTypes(root: string, to: string): Promise<void> {
  const out = await mkdtemp(join(tmpdir(), 'x402-scan-types-'));
  try {
    compile(root, out);
    const pending = [ENTRY];
    const knownFiles = new Set(pending);
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      const text = await readFile(join(out, file), 'utf8');
      const packageName = /(?:from |import\()['"](?!\.|node:)([^'"]+)/.exec(text)?.[1];
      if (packageName)
        throw new Error(`${file} needs the types of ${packageName}: keep them inside.`);
      for (const [, , path = ''] of text.matchAll(RELATIVE_IMPORT)) {
        const next = `${posix.join(posix.dirname(file), path)}.d.ts`;
        if (!knownFiles.has(next)) pending.push(next);
        knownFiles.add(next);
      }
      await mkdir(dirname(join(to, file)), { recursive: true });
      await writeFile(join(to, file), text.replaceAll(RELATIVE_IMPORT, '$1$2.js'));
    }
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

function compile(root: string, out: string): void {
  const require = createRequire(import.meta.url);
  const tsc = require.resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');
  const args = [tsc, '-p', join(root, 'tools/pack/tsconfig.json'), '--outDir', out];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('The declarations of the library do not compile.');
}
