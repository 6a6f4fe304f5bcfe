import { createPrivateKey, type KeyObject } from 'node:crypto';
import {
  acceptedFor,
  type Environment,
  SettingError,
  type SettingName,
  type Settings,
} from './environment.ts';
import { addressOfKey, evmAddress, isSameAddress, webAddress } from './parse-values.ts';

export type PaymentMode = Settings['PAYMENT_MODE'];

/** The token of our prices. */
export type AssetConfig = {
  /** Checksummed. */
  readonly address: `0x${string}`;
  /** Name and version of the token's EIP-712 domain. */
  readonly name: string;
  readonly version: string;
};

/** This address has no known key, so money that is paid to it by mistake is lost. */
const MOCK_PAY_TO = '0x4020000000000000000000000000000000000402';

type KnownAsset = readonly [address: `0x${string}`, name: string, version: string];

/** USDC and its EIP-712 domain, by network. */
const KNOWN_ASSETS: Readonly<Record<string, KnownAsset>> = {
  'eip155:8453': ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin', '2'],
  'eip155:84532': ['0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC', '2'],
};

/** Throws SettingError. */
export function readPaymentConfig(settings: Settings, environment: Environment) {
  const { PAYMENT_MODE: mode, SETTLEMENT_KEY: settlementKey } = settings;
  const facilitatorUrl = webAddress(settings, 'FACILITATOR_URL', 'any path');
  const rpcUrl = webAddress(settings, 'RPC_URL', 'any path');
  const isModeStated = (environment['PAYMENT_MODE'] ?? '') !== '';
  const sign = facilitatorUrl !== null ? 'FACILITATOR_URL' : 'SETTLEMENT_KEY';
  if (!isModeStated && (facilitatorUrl !== null || settlementKey !== undefined)) {
    throw new SettingError(
      'PAYMENT_MODE',
      undefined,
      `with ${sign} it has to be stated (mock, local or facilitator), or work would be given away`,
    );
  }
  if (mode === 'facilitator') require(settings, 'FACILITATOR_URL', mode);
  if (mode === 'local') {
    require(settings, 'RPC_URL', mode);
    require(settings, 'SETTLEMENT_KEY', mode);
  }
  const asset = assetConfig(settings);
  const key = privateKey(settlementKey);
  return {
    mode,
    /** Checksummed. */
    payTo: payTo(settings, asset),
    /** CAIP-2. */
    network: settings.NETWORK,
    asset,
    facilitatorUrl,
    cdpKey: cdpKey(settings),
    rpcUrl,
    settlementKey: key,
    /** The address of `SETTLEMENT_KEY` in `local` mode. */
    signer: key !== null && mode === 'local' ? addressOfKey(key) : null,
  };
}

function payTo(settings: Settings, asset: AssetConfig): `0x${string}` {
  if (settings.PAYMENT_MODE !== 'mock') require(settings, 'PAY_TO', settings.PAYMENT_MODE);
  const address = evmAddress('PAY_TO', settings.PAY_TO ?? MOCK_PAY_TO);
  if (isSameAddress(address, asset.address)) {
    throw new SettingError('PAY_TO', address, 'your own address, not that of the token');
  }
  return address;
}

function assetConfig(settings: Settings): AssetConfig {
  const { NETWORK: network, ASSET: asset } = settings;
  const [usdc, name = '', version = ''] = KNOWN_ASSETS[network] ?? [];
  // The domain of the network's USDC is known.
  const isKnown = usdc !== undefined && isSameAddress(asset ?? usdc, usdc);
  for (const needed of ['ASSET', 'ASSET_NAME', 'ASSET_VERSION'] as const) {
    if (settings[needed] === undefined && !isKnown) {
      throw new SettingError(needed, undefined, `on ${network} give ${acceptedFor(needed)}`);
    }
  }
  return {
    address: evmAddress('ASSET', asset ?? usdc ?? ''),
    name: settings.ASSET_NAME ?? name,
    version: settings.ASSET_VERSION ?? version,
  };
}

const CDP_SECRET_FORMS =
  'the whole secret of the key: base64 of 64 bytes (Ed25519), or a PEM private key of P-256 (ECDSA)';

function cdpKey(settings: Settings): CdpKey | null {
  const { CDP_API_KEY_ID: id, CDP_API_KEY_SECRET: secret } = settings;
  if (id === undefined && secret === undefined) return null;
  if (id === undefined) throw new SettingError('CDP_API_KEY_ID', id, acceptedFor('CDP_API_KEY_ID'));
  if (secret === undefined) {
    throw new SettingError('CDP_API_KEY_SECRET', secret, acceptedFor('CDP_API_KEY_SECRET'));
  }
  const privateKey = cdpPrivateKey(secret);
  if (privateKey === null) {
    throw new SettingError('CDP_API_KEY_SECRET', secret, CDP_SECRET_FORMS);
  }
  return { id, privateKey };
}

function require(settings: Settings, name: SettingName, mode: PaymentMode): void {
  if (settings[name] !== undefined) return;
  throw new SettingError(name, undefined, `PAYMENT_MODE=${mode} needs ${acceptedFor(name)}`);
}

function privateKey(value: string | undefined): `0x${string}` | null {
  if (value === undefined) return null;
  if (addressOfKey(value) === null) {
    throw new SettingError('SETTLEMENT_KEY', value, acceptedFor('SETTLEMENT_KEY'));
  }
  return value as `0x${string}`; // as the form of every key that has an address
}

/** The API key of the Coinbase Developer Platform, in either form that its portal issues. */
export type CdpKey = {
  readonly id: string;
  /** Ed25519 or P-256. A KeyObject prints nothing of the key in a log. */
  readonly privateKey: KeyObject;
};

const ED25519_SEED_BYTES = 32;
const ED25519_SECRET_BYTES = 64;

/** Reads base64 of seed and public key (Ed25519), or a PEM key of the curve P-256; null for all else. */
export function cdpPrivateKey(secret: string): KeyObject | null {
  try {
    return secret.includes('PRIVATE KEY') ? pemKey(secret) : seedKey(secret);
  } catch {
    return null;
  }
}

/** Environment files often hold a PEM on one line, its line ends written as backslash and n. */
function pemKey(secret: string): KeyObject | null {
  const key = createPrivateKey(secret.replaceAll('\\n', '\n'));
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
}

function seedKey(secret: string): KeyObject | null {
  const bytes = Buffer.from(secret, 'base64');
  if (bytes.length !== ED25519_SECRET_BYTES) return null;
  const seed = bytes.subarray(0, ED25519_SEED_BYTES);
  const publicKey = bytes.subarray(ED25519_SEED_BYTES);
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: encode(seed), x: encode(publicKey) };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64url');
}

const PKCS8_PEM = /^\s*-----BEGIN PRIVATE KEY-----/;

/** Reads an Ed25519 private key from PKCS#8 PEM; null for all else. */
export function ed25519Key(text: string): KeyObject | null {
  if (!PKCS8_PEM.test(text)) return null;
  try {
    // Environment files often hold a PEM on one line, its line ends written as backslash and n.
    const key = createPrivateKey(text.replaceAll('\\n', '\n'));
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}
