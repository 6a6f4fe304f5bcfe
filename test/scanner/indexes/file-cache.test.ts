import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileCache } from '../../../src/scanner/indexes/response-cache.ts';

const ANSWER = { source: 'x402scan', key: 'https://a.example origin', takenAtMs: 1_000, data: [1] };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file cache '));
});
afterEach(() => rm(folder, { recursive: true }));

test('the cache creates its folder and keeps one answer for each source and key', async () => {
  const cache = createFileCache(join(folder, 'not', 'yet'));
  expect(await cache.get(ANSWER.source, ANSWER.key)).toBeNull();
  await cache.put(ANSWER);
  await cache.put({ ...ANSWER, takenAtMs: 2_000, data: { b: null } });
  await cache.put({ ...ANSWER, source: 'Bazaar' });
  expect(await cache.get(ANSWER.source, ANSWER.key)).toEqual({
    takenAtMs: 2_000,
    data: { b: null },
  });
  expect(await cache.get('Bazaar', ANSWER.key)).toEqual({ takenAtMs: 1_000, data: [1] });
  expect(await cache.get(ANSWER.key, ANSWER.source)).toBeNull();
  expect(await readdir(join(folder, 'not', 'yet'))).toHaveLength(2);
});

test.each(['', '{"takenAtMs":1', '[]', 'null', '{"takenAtMs":"1","data":[]}'])(
  'a file with the text %j gives no answer',
  async (text) => {
    const cache = createFileCache(folder);
    await cache.put(ANSWER);
    const [file = ''] = await readdir(folder);
    await writeFile(join(folder, file), text);
    expect(await cache.get(ANSWER.source, ANSWER.key)).toBeNull();
  },
);

test('a failed write rejects and leaves no partial file', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(createFileCache(join(folder, 'file')).put(ANSWER)).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['file']);
});
