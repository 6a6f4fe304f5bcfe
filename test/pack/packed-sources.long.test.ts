/** The npm package is the scanner and the command line, and no part of the service. */
import { expect, test } from 'vitest';
import { listPackedSources } from '../../tools/pack/build.ts';

test('the package holds files of the scanner, the command line and the checks only', async () => {
  const sources = await listPackedSources();
  const folders = sources.map((path) => /^(?:src\/[^/]+|[^/]+)/.exec(path)?.[0]);
  expect([...new Set(folders)]).toEqual(['checks', 'src/cli', 'src/scanner']);
  // Code that is only loaded by a name in a string is part of it too.
  expect(sources).toContain('src/scanner/workers/worker.ts');
  expect(sources).toContain('src/scanner/clients/offline-worker.ts');
});
