/** The declarations of the npm package compile, and need the types of no other package. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { writeTypes } from '../../tools/pack/write-types.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderPerTest();

test('a program can use the types of the library without another package', async () => {
  await writeTypes(ROOT, folder.path);
  const entry = await readFile(folder.at('src/cli/library/index.d.ts'), 'utf8');
  expect(entry).toContain('ScanReport');
}, 60_000);
