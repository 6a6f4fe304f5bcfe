/** Reads what lookups ask: three indexes, two nodes, and the token whose payments a chain shows. */

import { OperatorError, redact } from '../model/redact.ts';
import { listKnownAssets } from '../parse/x402/assets.ts';
import {
  type EvmAddress,
  isChecksummed,
  isSameAddress,
  toChecksummed,
  ZERO_ADDRESS,
} from '../parse/x402/namespaces.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const INDEX_FORM = 'an http or https address, or nothing to switch it off';

/** Each form completes "… is not accepted: give …". */
export const SOURCE_FORMS = {
  X402SCAN_URL: INDEX_FORM,
  BAZAAR_URL: INDEX_FORM,
  ECOSYSTEM_URL: INDEX_FORM,
  RPC_URL: 'the http or https address of an EVM node',
  SOLANA_RPC_URL: 'the http or https address of a Solana node',
  NETWORK: 'an EVM network in CAIP-2 form, such as eip155:8453',
  ASSET: 'a token address of 0x and 40 hexadecimal digits',
  ASSET_NAME: "the name of the token's EIP-712 domain",
  ASSET_VERSION: "the version of the token's EIP-712 domain",
} as const;

export const DEFAULT_NETWORK = 'eip155:8453';
export const NETWORK_PATTERN = '^eip155:[1-9]\\d{0,17}$';

/** An empty value switches an index off. Any other setting with an empty value counts as not set. */
export const INDEX_URLS = {
  X402SCAN_URL: 'https://www.x402scan.com',
  BAZAAR_URL: 'https://api.cdp.coinbase.com',
  ECOSYSTEM_URL: 'https://www.x402.org',
} as const;

/** Base and Base Sepolia. On other networks the operator names the token, because some have other decimals. */
const DEFAULT_ASSET_NETWORKS = ['eip155:8453', 'eip155:84532'];

/** The token of our prices. */
export type AssetConfig = {
  /** Checksummed. */
  readonly address: EvmAddress;
  /** Name and version of the token's EIP-712 domain. */
  readonly name: string;
  readonly version: string;
};

/** Returns base URLs without a trailing slash; null for what is switched off or not set. Throws SettingError. */
export function readSources(environment: Environment) {
  const network = environment['NETWORK'] || DEFAULT_NETWORK;
  if (!new RegExp(NETWORK_PATTERN).test(network)) {
    throw new SettingError('NETWORK', network, SOURCE_FORMS.NETWORK);
  }
  const indexUrl = (name: keyof typeof INDEX_URLS) =>
    environment[name] === '' ? null : (readUrl(environment, name) ?? INDEX_URLS[name]);
  return {
    x402scanUrl: indexUrl('X402SCAN_URL'),
    bazaarUrl: indexUrl('BAZAAR_URL'),
    ecosystemUrl: indexUrl('ECOSYSTEM_URL'),
    rpcUrl: readUrl(environment, 'RPC_URL'),
    // A Solana node, which knows the token accounts of recipients.
    solanaRpcUrl: readUrl(environment, 'SOLANA_RPC_URL'),
    /** CAIP-2. */
    network,
    asset: readAsset(environment, network),
  };
}

function readUrl(environment: Environment, name: keyof typeof SOURCE_FORMS): string | null {
  const value = environment[name];
  if (value === undefined || value === '') return null;
  const protocol = URL.parse(value)?.protocol;
  if (protocol === 'http:' || protocol === 'https:') return value.replace(/\/+$/, '');
  throw new SettingError(name, value, SOURCE_FORMS[name]);
}

function readAsset(environment: Environment, network: string): AssetConfig {
  // The first known token of these networks is USDC.
  const [usdc] = DEFAULT_ASSET_NETWORKS.includes(network) ? listKnownAssets(network) : [];
  const address = environment['ASSET'] || usdc?.asset || '';
  const isKnownUsdc = usdc !== undefined && isSameAddress(address, usdc.asset);
  for (const setting of ['ASSET', 'ASSET_NAME', 'ASSET_VERSION'] as const) {
    if (!environment[setting] && !isKnownUsdc) {
      throw new SettingError(setting, undefined, `on ${network} give ${SOURCE_FORMS[setting]}`);
    }
  }
  if (!isChecksummed(address) || address === ZERO_ADDRESS) {
    throw new SettingError('ASSET', address, SOURCE_FORMS.ASSET);
  }
  return {
    address: toChecksummed(address),
    name: environment['ASSET_NAME'] || usdc?.domain?.name || '',
    version: environment['ASSET_VERSION'] || usdc?.domain?.version || '',
  };
}

const SECRET_SETTINGS: readonly string[] = [
  'SETTLEMENT_KEY',
  'CDP_API_KEY_ID',
  'CDP_API_KEY_SECRET',
  'SIGNING_KEY',
];
/** URLs of nodes and facilitators often have an API key in their path. */
const URLS_WITH_KEYS: readonly string[] = ['RPC_URL', 'SOLANA_RPC_URL', 'FACILITATOR_URL'];
const MAX_SHOWN_CHARS = 200;

/** Stops the start of the service or of a command. The message is one line for the operator. */
export class SettingError extends OperatorError {
  override readonly name = 'SettingError';

  constructor(setting: string, value: string | undefined, accepted: string) {
    super(
      value === undefined
        ? `${setting} is not set: ${accepted}.`
        : `${setting}=${toPrintable(setting, value)} is not accepted: give ${accepted}.`,
    );
  }
}

/** Quotes a value on one line and hides secrets, because logs and terminals show this text. */
function toPrintable(setting: string, value: string): string {
  if (SECRET_SETTINGS.includes(setting)) return `(hidden, ${value.length} characters)`;
  const withoutSecrets = URLS_WITH_KEYS.includes(setting)
    ? redact(value)
    : value.replace(/\/\/[^/@]*@/, '//(hidden)@');
  return JSON.stringify(withoutSecrets.slice(0, MAX_SHOWN_CHARS));
}
