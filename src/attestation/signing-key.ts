import { createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';

export type SigningKey = {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string;
  /** The 32 bytes of the public key, base64url, as in the member `x` of a JWK. */
  readonly publicKey: string;
  /** Ed25519. A KeyObject prints nothing of the key in a log. */
  readonly privateKey: KeyObject;
};

export function makeSigningKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** Throws TypeError for a key that is not Ed25519. */
export function toSigningKey(privateKey: KeyObject): SigningKey {
  const { crv, x } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (crv !== 'Ed25519' || x === undefined) throw new TypeError('The key is not Ed25519.');
  return { kid: thumbprint(x), publicKey: x, privateKey };
}

/** RFC 7638 of an Ed25519 key (RFC 8037): the required members alone, in the order of their names. */
export function thumbprint(publicKey: string): string {
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: publicKey });
  return hash('sha256', members, 'base64url');
}
