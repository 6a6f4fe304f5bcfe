/** The API key of the Coinbase Developer Platform, in either form that its portal issues. */
import { createPrivateKey, type KeyObject } from 'node:crypto';

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
    return secret.includes('PRIVATE KEY') ? pemKey(secret) : ed25519Key(secret);
  } catch {
    return null;
  }
}

/** Environment files often hold a PEM on one line, its line ends written as backslash and n. */
function pemKey(secret: string): KeyObject | null {
  const key = createPrivateKey(secret.replaceAll('\\n', '\n'));
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
}

function ed25519Key(secret: string): KeyObject | null {
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
