import { thumbprint } from './signing-key.ts';

/** A key of a JWK Set that somebody else made. */
export type NamedKey = {
  readonly kid: string;
  readonly x: string;
  /** False where `kid` is not the thumbprint of `x`: one of the two was changed. */
  readonly isItself: boolean;
  readonly nbfMs: number | null;
  readonly expMs: number | null;
};

/** The Ed25519 keys of a JWK Set; null for JSON that is none. */
export function readKeySet(value: unknown): readonly NamedKey[] | null {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return null;
  if (!Array.isArray(value.keys)) return null;
  return value.keys.map(readKey).filter((key) => key !== null);
}

function readKey(value: unknown): NamedKey | null {
  if (typeof value !== 'object' || value === null) return null;
  if (!('kty' in value) || value.kty !== 'OKP') return null;
  if (!('crv' in value) || value.crv !== 'Ed25519') return null;
  if (!('x' in value) || typeof value.x !== 'string') return null;
  const own = thumbprint(value.x);
  const kid = 'kid' in value && typeof value.kid === 'string' ? value.kid : own;
  return {
    kid,
    x: value.x,
    isItself: kid === own,
    nbfMs: milliseconds('nbf' in value ? value.nbf : null),
    expMs: milliseconds('exp' in value ? value.exp : null),
  };
}

function milliseconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value * 1_000 : null;
}
