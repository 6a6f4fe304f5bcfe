import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileShelf } from '../../src/ecosystem/file-shelf.ts';

const ANSWER = { source: 'x402scan', key: 'https://a.example origin', takenAtMs: 1_000, data: [1] };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file shelf '));
});
afterEach(() => rm(folder, { recursive: true }));

test('keeps answers by source and key, in a folder that it makes', async () => {
  const shelf = createFileShelf(join(folder, 'not', 'yet'));
  expect(await shelf.get(ANSWER.source, ANSWER.key)).toBeNull();
  await shelf.put(ANSWER);
  await shelf.put({ ...ANSWER, takenAtMs: 2_000, data: { b: null } });
  await shelf.put({ ...ANSWER, source: 'Bazaar' });
  expect(await shelf.get(ANSWER.source, ANSWER.key)).toEqual({
    takenAtMs: 2_000,
    data: { b: null },
  });
  expect(await shelf.get('Bazaar', ANSWER.key)).toEqual({ takenAtMs: 1_000, data: [1] });
  expect(await shelf.get(ANSWER.key, ANSWER.source)).toBeNull();
  expect(await readdir(join(folder, 'not', 'yet'))).toHaveLength(2);
});

test.each(['', '{"takenAtMs":1', '[]', 'null', '{"takenAtMs":"1","data":[]}'])(
  'a file that holds %j counts as no answer',
  async (text) => {
    const shelf = createFileShelf(folder);
    await shelf.put(ANSWER);
    const [file = ''] = await readdir(folder);
    await writeFile(join(folder, file), text);
    expect(await shelf.get(ANSWER.source, ANSWER.key)).toBeNull();
  },
);

test('says so where it cannot write, and leaves no part behind', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(createFileShelf(join(folder, 'file')).put(ANSWER)).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['file']);
});
