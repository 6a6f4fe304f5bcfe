import { fileURLToPath } from 'node:url';
import { type Environment, readSources } from '../environment/read-sources.ts';
import { createStanding } from '../indexes/create-standing.ts';
import { createFileCache } from '../indexes/response-cache.ts';
import type { Standing } from '../model/standing.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';

/** Users may delete this folder at any time. */
const CACHE_FOLDER = fileURLToPath(new URL('../../.cache/standing/', import.meta.url));

/** Makes the lookups in indexes and on chains that scans of the command line use. Throws SettingError. */
export function createCliStanding(environment: Environment): Standing {
  const sources = readSources(environment);
  return createStanding(
    { ...sources, asset: sources.asset.address, userAgent: scannerUserAgent('command line') },
    createFileCache(environment['STANDING_CACHE'] ?? CACHE_FOLDER),
  );
}
