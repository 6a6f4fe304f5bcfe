/** Keys of signatures: the private one that signs, and the public ones of a JWK Set. */
import { hash, type KeyObject } from 'node:crypto';
import { readMembers } from '../model/json.ts';

export type SigningKey = {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string;
  /** The 32 bytes of the public key, base64url, as in the member `x` of a JWK. */
  readonly publicKey: string;
  /** An Ed25519 key. A log that prints a KeyObject does not show the key. */
  readonly privateKey: KeyObject;
};

/** RFC 7638 thumbprint of an Ed25519 key (RFC 8037): a digest of the required members, sorted by name. */
export function toThumbprint(publicKey: string): string {
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: publicKey });
  return hash('sha256', members, 'base64url');
}

/** A public key of a JWK Set. A stranger may have made the set. */
export type VerificationKey = {
  readonly kid: string;
  readonly x: string;
  /** True if `kid` is the thumbprint of `x`. If not, somebody changed one of them. */
  readonly matchesKid: boolean;
  readonly nbfMs: number | null;
  readonly expMs: number | null;
};

/** Returns the Ed25519 keys of a JWK Set; null for JSON that is not a JWK Set. */
export function readKeySet(value: unknown): readonly VerificationKey[] | null {
  const { keys } = readMembers(value);
  return Array.isArray(keys) ? keys.map(readKey).filter((key) => key !== null) : null;
}

function readKey(value: unknown): VerificationKey | null {
  const { kty, crv, x, kid: statedKid, nbf, exp } = readMembers(value);
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return null;
  const ownKid = toThumbprint(x);
  const kid = typeof statedKid === 'string' ? statedKid : ownKid;
  return {
    kid,
    x,
    matchesKid: kid === ownKid,
    nbfMs: toMilliseconds(nbf),
    expMs: toMilliseconds(exp),
  };
}

function toMilliseconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value * 1_000 : null;
}
