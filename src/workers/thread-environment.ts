import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The environment of worker threads. Settings of the host hold keys, and no task needs them. Threads inherit no compile
 * cache: by its variable they have it from their first module on, and load no compiler of types.
 */
export function threadEnvironment(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  // It names the folder of this version of Node, inside of the one that was given.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
