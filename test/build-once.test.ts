import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildOnce } from './build-once.ts';

let name: string;
let built: number;
beforeEach(() => {
  name = `self-test/${randomUUID()}`;
  built = 0;
});
afterEach(async () => {
  await rm(await buildOnce(name, build), { force: true });
});

async function build(draft: string) {
  built += 1;
  await writeFile(draft, `build ${built}`);
}

test('who asks at once shares one build, who asks later gets it', async () => {
  const paths = await Promise.all([1, 2, 3].map(() => buildOnce(name, build)));
  expect(new Set(paths).size).toBe(1);
  expect(await readFile(await buildOnce(name, build), 'utf8')).toBe('build 1');
  expect(built).toBe(1);
});

test('a failed build leaves nothing behind that is taken for a whole one', async () => {
  const half = async (draft: string) => {
    await writeFile(draft, 'half');
    throw new Error('disk full');
  };
  await expect(buildOnce(name, half)).rejects.toThrow('disk full');
  expect(await readFile(await buildOnce(name, build), 'utf8')).toBe('build 1');
});

test('the lock of a builder that was killed holds nobody up', async () => {
  const target = await buildOnce(name, build);
  await rm(target);
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  await writeFile(`${target}.lock`, String(pid));
  expect(await readFile(await buildOnce(name, build), 'utf8')).toBe('build 2');
});
