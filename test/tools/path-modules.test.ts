/** Some modules are loaded by a path in a string. The compiler does not check such paths, so this test does. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const URL_PATH = /new URL\(\s*['`]([^'`$]+)['`]\s*,\s*import\.meta\.url\s*,?\s*\)/g;

function readSources() {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'plugins'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\n');
  return files
    .filter((file) => file.endsWith('.ts') && existsSync(join(ROOT, file)))
    .map((file) => ({ file, source: readFileSync(join(ROOT, file), 'utf8') }));
}

/** Lists the paths that the product's sources give to `new URL`, relative to the root. */
function listUrlPaths(): readonly string[] {
  const paths = readSources().flatMap(({ file, source }) =>
    [...source.matchAll(URL_PATH)].map(([, path = '']) => normalize(join(dirname(file), path))),
  );
  return [...new Set(paths)].sort();
}

test('each file that the sources name by a path exists', () => {
  const paths = listUrlPaths();
  expect(paths).toContain('src/scanner/workers/worker.ts');
  // Files in .cache are written at run time.
  const runTimePaths = paths.filter((path) => path.startsWith('.cache/'));
  expect(
    paths.filter((path) => !runTimePaths.includes(path) && !existsSync(join(ROOT, path))),
  ).toEqual([]);
});

// In the npm package, `import.meta.url` is the URL of a bundle of several files. A worker would load the whole bundle.
test('no file gives `import.meta.url` to a worker as the module of a task', () => {
  const selfNaming = readSources().filter(({ source }) =>
    /\bmodules?: \[?import\.meta\.url\b/.test(source),
  );
  expect(selfNaming.map(({ file }) => file)).toEqual([]);
});
