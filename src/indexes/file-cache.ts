/** Caches answers in files, one each, for the command line, which has no database. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptAnswer, SnapshotCache } from './response-cache.ts';

export function createFileCache(folder: string): SnapshotCache {
  const fileOf = (source: string, key: string): string => {
    const name = createHash('sha256')
      .update(JSON.stringify([source, key]))
      .digest('hex');
    return join(folder, `${name}.json`);
  };
  return {
    now: () => Date.now(),
    get: async (source, key) => {
      const text = await readFile(fileOf(source, key), 'utf8').catch(() => null);
      return text === null ? null : parse(text);
    },
    put: async ({ source, key, takenAtMs, data }) => {
      const file = fileOf(source, key);
      const part = `${file}.${process.pid}.part`;
      await mkdir(folder, { recursive: true });
      await writeFile(part, JSON.stringify({ takenAtMs, data }));
      await rename(part, file);
    },
  };
}

/** A truncated or foreign file counts as no answer. */
function parse(text: string): KeptAnswer | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const takenAtMs: unknown = Reflect.get(value, 'takenAtMs');
    if (typeof takenAtMs !== 'number') return null;
    return { takenAtMs, data: Reflect.get(value, 'data') };
  } catch {
    return null;
  }
}
