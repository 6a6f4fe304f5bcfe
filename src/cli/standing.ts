import { fileURLToPath } from 'node:url';
import { readEcosystemConfig } from '../config/config.ts';
import { readSettings } from '../config/environment.ts';
import { readPaymentConfig } from '../config/payment.ts';
import { createStanding } from '../indexes/create-standing.ts';
import { createFileCache } from '../indexes/response-cache.ts';
import type { Standing } from '../model/standing.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';

/** Users may delete this folder at any time. */
const CACHE_FOLDER = fileURLToPath(new URL('../../.cache/standing/', import.meta.url));
/** We read only these settings, so that a PORT or NODE_ENV of a build machine cannot fail a scan. */
const READ_SETTINGS = [
  'X402SCAN_URL',
  'BAZAAR_URL',
  'ECOSYSTEM_URL',
  'RPC_URL',
  'SOLANA_RPC_URL',
  'NETWORK',
  'ASSET',
  'ASSET_NAME',
  'ASSET_VERSION',
];

/** Makes the lookups in indexes and on chains that scans of the command line use. Throws SettingError. */
export function createCliStanding(environment: NodeJS.ProcessEnv): Standing {
  const selected = Object.fromEntries(READ_SETTINGS.map((name) => [name, environment[name]]));
  const settings = readSettings(selected);
  const { rpcUrl, asset, network } = readPaymentConfig(settings, selected);
  return createStanding(
    {
      ...readEcosystemConfig(settings),
      rpcUrl,
      asset: asset.address,
      network,
      userAgent: scannerUserAgent('command line'),
    },
    createFileCache(environment['STANDING_CACHE'] ?? CACHE_FOLDER),
  );
}
