/** Some modules are loaded by a path in a string. The compiler does not check such paths, so this test does. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BY_PATH = /new URL\(\s*['`]([^'`$]+)['`]\s*,\s*import\.meta\.url\s*,?\s*\)/g;

/** Paths from the root, of files and folders that sources of the product name as texts. */
function namedByPath(): readonly string[] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'plugins'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\n');
  const named = files
    .filter((file) => file.endsWith('.ts') && existsSync(join(ROOT, file)))
    .flatMap((file) => {
      const source = readFileSync(join(ROOT, file), 'utf8');
      return [...source.matchAll(BY_PATH)].map(([, path = '']) =>
        normalize(join(dirname(file), path)),
      );
    });
  return [...new Set(named)].sort();
}

test('each module that is named by a path exists', () => {
  const named = namedByPath();
  expect(named).toContain('src/workers/worker.ts');
  // These files are made at run time.
  const made = named.filter((path) => path.startsWith('.cache/'));
  expect(named.filter((path) => !made.includes(path) && !existsSync(join(ROOT, path)))).toEqual([]);
});
