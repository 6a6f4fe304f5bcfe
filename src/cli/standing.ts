import { fileURLToPath } from 'node:url';
import { readEcosystemConfig } from '../config/config.ts';
import { readSettings } from '../config/environment.ts';
import { readPaymentConfig } from '../config/payment.ts';
import { createStanding } from '../indexes/create-standing.ts';
import { createFileCache } from '../indexes/response-cache.ts';
import type { Standing } from '../model/standing.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';

/** In the clone's cache folder, which may be deleted at any time. */
const CACHE_FOLDER = fileURLToPath(new URL('../../.cache/standing/', import.meta.url));
/** Only these settings are read: a scan must not fail on a build machine's PORT or NODE_ENV. */
const SETTINGS = [
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

/** Throws SettingError. */
export function standingFrom(environment: NodeJS.ProcessEnv): Standing {
  const own = Object.fromEntries(SETTINGS.map((name) => [name, environment[name]]));
  const settings = readSettings(own);
  const { rpcUrl, asset, network } = readPaymentConfig(settings, own);
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
