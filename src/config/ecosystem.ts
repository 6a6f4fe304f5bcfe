import type { Settings } from './environment.ts';
import { webAddress } from './parse-values.ts';

/** Base URLs of the sources of the standing checks; null where a source is switched off. */
export type EcosystemConfig = {
  readonly x402scanUrl: string | null;
  readonly bazaarUrl: string | null;
  readonly ecosystemUrl: string | null;
  /** A node of Solana that knows the token accounts of recipients. */
  readonly solanaRpcUrl: string | null;
};

const PUBLIC_SOURCES = {
  X402SCAN_URL: 'https://www.x402scan.com',
  BAZAAR_URL: 'https://api.cdp.coinbase.com',
  ECOSYSTEM_URL: 'https://www.x402.org',
} as const;

/** Throws SettingError. An empty setting switches its source off. */
export function readEcosystemConfig(settings: Settings): EcosystemConfig {
  return {
    x402scanUrl: sourceAddress(settings, 'X402SCAN_URL'),
    bazaarUrl: sourceAddress(settings, 'BAZAAR_URL'),
    ecosystemUrl: sourceAddress(settings, 'ECOSYSTEM_URL'),
    solanaRpcUrl: webAddress(settings, 'SOLANA_RPC_URL', 'any path') ?? null,
  };
}

function sourceAddress(settings: Settings, name: keyof typeof PUBLIC_SOURCES): string | null {
  if (settings[name] === '') return null;
  return webAddress(settings, name, 'any path') ?? PUBLIC_SOURCES[name];
}
