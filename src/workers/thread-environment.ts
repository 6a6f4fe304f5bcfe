/** The environment of every worker thread: no setting of the host, and its compile cache. */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Settings of the host hold keys, and no task has any use for them. Threads inherit no compile
 * cache: by its variable they have it from their first module on, and load no compiler of types.
 */
export function threadEnvironment(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  // It names the folder of this version of Node, inside of the one that was given.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
