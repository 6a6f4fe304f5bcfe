import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  type AssetConfig,
  type Environment,
  type readSources,
  SettingError,
} from '../../scanner/environment/read-sources.ts';
import {
  type EvmAddress,
  isChecksummed,
  isSameAddress,
  toChecksummed,
  ZERO_ADDRESS,
} from '../../scanner/parse/x402/namespaces.ts';
import {
  describeAccepted,
  readWebAddress,
  type SettingName,
  type Settings,
  toSettingError,
} from './environment.ts';

/** Nobody has the key of this address, so money that is paid to this address is lost. */
const MOCK_PAY_TO = '0x4020000000000000000000000000000000000402';

/** Throws SettingError. */
export function readPaymentConfig(
  settings: Settings,
  environment: Environment,
  { network, asset, rpcUrl }: Pick<ReturnType<typeof readSources>, 'network' | 'asset' | 'rpcUrl'>,
) {
  const { PAYMENT_MODE: mode, SETTLEMENT_KEY: keyText } = settings;
  const facilitatorUrl = readWebAddress(settings, 'FACILITATOR_URL', 'any path');
  // `settings` has the default mode. Only the environment shows whether the operator set a mode.
  const isModeStated = (environment['PAYMENT_MODE'] ?? '') !== '';
  const paymentSetting = facilitatorUrl !== null ? 'FACILITATOR_URL' : 'SETTLEMENT_KEY';
  if (!isModeStated && (facilitatorUrl !== null || keyText !== undefined)) {
    throw new SettingError(
      'PAYMENT_MODE',
      undefined,
      `it must be mock, local or facilitator, because ${paymentSetting} is set. The default, mock, would give answers away for nothing`,
    );
  }
  if (mode === 'facilitator') requireSetting(settings, 'FACILITATOR_URL', mode);
  if (mode === 'local') {
    requireSetting(settings, 'RPC_URL', mode);
    requireSetting(settings, 'SETTLEMENT_KEY', mode);
  }
  const settlementKey = readSettlementKey(keyText);
  return {
    mode,
    /** Checksummed. */
    payTo: readPayTo(settings, asset),
    network,
    asset,
    facilitatorUrl,
    cdpKey: readCdpKey(settings),
    rpcUrl,
    settlementKey,
    /** The address of `SETTLEMENT_KEY`; null unless the mode is `local`. */
    signer: settlementKey !== null && mode === 'local' ? deriveAddress(settlementKey) : null,
  };
}

function readPayTo(settings: Settings, asset: AssetConfig): `0x${string}` {
  if (settings.PAYMENT_MODE !== 'mock') requireSetting(settings, 'PAY_TO', settings.PAYMENT_MODE);
  const value = settings.PAY_TO ?? MOCK_PAY_TO;
  if (!isChecksummed(value) || value === ZERO_ADDRESS) throw toSettingError('PAY_TO', value);
  const address = toChecksummed(value);
  if (isSameAddress(address, asset.address)) {
    throw new SettingError('PAY_TO', address, 'your own address, not that of the token');
  }
  return address;
}

const CDP_SECRET_FORMS =
  'the whole secret of the key: base64 of 64 bytes (Ed25519), or a PEM private key of P-256 (ECDSA)';

function readCdpKey({ CDP_API_KEY_ID: id, CDP_API_KEY_SECRET: secret }: Settings): CdpKey | null {
  if (id === undefined && secret === undefined) return null;
  if (id === undefined) throw toSettingError('CDP_API_KEY_ID', id);
  if (secret === undefined) throw toSettingError('CDP_API_KEY_SECRET', secret);
  const privateKey = parseCdpPrivateKey(secret);
  if (privateKey !== null) return { id, privateKey };
  throw new SettingError('CDP_API_KEY_SECRET', secret, CDP_SECRET_FORMS);
}

function requireSetting(settings: Settings, name: SettingName, mode: string): void {
  if (settings[name] !== undefined) return;
  throw new SettingError(name, undefined, `PAYMENT_MODE=${mode} needs ${describeAccepted(name)}`);
}

const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/;

/** Computes the address of a secp256k1 private key; null for an invalid key. */
export function deriveAddress(key: string): EvmAddress | null {
  if (!PRIVATE_KEY.test(key)) return null;
  const curve = createECDH('secp256k1');
  try {
    curve.setPrivateKey(key.slice(2), 'hex');
  } catch {
    return null;
  }
  // The first byte only says that the point is not compressed.
  const hash = keccak_256(curve.getPublicKey().subarray(1));
  return toChecksummed(`0x${bytesToHex(hash.subarray(-20))}`);
}

function readSettlementKey(value: string | undefined): `0x${string}` | null {
  if (value === undefined) return null;
  if (deriveAddress(value) === null) throw toSettingError('SETTLEMENT_KEY', value);
  return value as `0x${string}`; // every key with an address has this form
}

/** The API key of the Coinbase Developer Platform, in either form that its portal issues. */
export type CdpKey = {
  readonly id: string;
  /** Ed25519 or P-256. A KeyObject prints nothing of the key in a log. */
  readonly privateKey: KeyObject;
};

const ED25519_SEED_BYTES = 32;
const ED25519_SECRET_BYTES = 64;

/** Reads a PEM key of the curve P-256, or base64 of an Ed25519 seed and public key; null for any other text. */
export function parseCdpPrivateKey(secret: string): KeyObject | null {
  try {
    return secret.includes('PRIVATE KEY') ? parsePemKey(secret) : parseSeedKey(secret);
  } catch {
    return null;
  }
}

/** Environment files often hold a PEM on one line, with a backslash and an n for each line end. */
function unescapeLineEnds(pem: string): string {
  return pem.replaceAll('\\n', '\n');
}

function parsePemKey(secret: string): KeyObject | null {
  const key = createPrivateKey(unescapeLineEnds(secret));
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
}

function parseSeedKey(secret: string): KeyObject | null {
  const bytes = Buffer.from(secret, 'base64');
  if (bytes.length !== ED25519_SECRET_BYTES) return null;
  const seed = bytes.toString('base64url', 0, ED25519_SEED_BYTES);
  const publicKey = bytes.toString('base64url', ED25519_SEED_BYTES);
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: seed, x: publicKey };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

const PKCS8_PEM = /^\s*-----BEGIN PRIVATE KEY-----/;

/** Reads an Ed25519 private key from PKCS#8 PEM; null for any other text. */
export function parseEd25519Key(text: string): KeyObject | null {
  if (!PKCS8_PEM.test(text)) return null;
  try {
    const key = createPrivateKey(unescapeLineEnds(text));
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}
