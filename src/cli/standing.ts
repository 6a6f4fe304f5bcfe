import { fileURLToPath } from 'node:url';
import { type Environment, readSources } from '../scanner/environment/read-sources.ts';
import { createStanding } from '../scanner/indexes/create-standing.ts';
import { createFileCache } from '../scanner/indexes/response-cache.ts';
import type { Standing } from '../scanner/model/standing.ts';
import { scannerUserAgent } from '../scanner/probe/client/user-agent.ts';

/** Users may delete this folder at any time. */
const CACHE_FOLDER = fileURLToPath(new URL('../../.cache/standing/', import.meta.url));

/** Opens the indexes and chain nodes of the environment for scans of the command line. Throws SettingError. */
export function createCliStanding(environment: Environment): Standing {
  const sources = readSources(environment);
  return createStanding(
    { ...sources, asset: sources.asset.address, userAgent: scannerUserAgent('command line') },
    createFileCache(environment['STANDING_CACHE'] ?? CACHE_FOLDER),
  );
}
