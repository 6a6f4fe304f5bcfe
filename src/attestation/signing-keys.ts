import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
} from 'node:crypto';
import { readMembers } from '../model/json.ts';
import {
  SIGNING_KEY_KEPT_MS,
  type SigningKeyStore,
  type StoredSigningKey,
} from '../store/signing-keys.ts';

export type SigningKey = {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string;
  /** The 32 bytes of the public key, base64url, as in the member `x` of a JWK. */
  readonly publicKey: string;
  /** An Ed25519 key. A log that prints a KeyObject does not show the key. */
  readonly privateKey: KeyObject;
};

export function makeSigningKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** Throws TypeError for a key that is not Ed25519. */
export function toSigningKey(privateKey: KeyObject): SigningKey {
  const { crv, x } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (crv !== 'Ed25519' || x === undefined) throw new TypeError('The key is not Ed25519.');
  return { kid: toThumbprint(x), publicKey: x, privateKey };
}

/** RFC 7638 thumbprint of an Ed25519 key (RFC 8037): a digest of the required members, sorted by name. */
export function toThumbprint(publicKey: string): string {
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: publicKey });
  return hash('sha256', members, 'base64url');
}

/**
 * Returns the key that this service signs with: the configured key, or else the last key in the store. If there is
 * neither, it makes a key and stores it. Another instance may append its own key at the same time. The list is
 * therefore read again until the last key is the configured key, or has a private key.
 */
export async function openSigningKey(
  keys: SigningKeyStore,
  configuredKey: KeyObject | null,
): Promise<SigningKey> {
  const configured = configuredKey === null ? null : toSigningKey(configuredKey);
  for (;;) {
    const last = (await keys.list()).at(-1);
    if (configured !== null && last?.kid === configured.kid) return configured;
    if (configured === null && last !== undefined && last.privateKey !== null) {
      return toSigningKey(createPrivateKey(last.privateKey));
    }
    const { kid, publicKey, privateKey } = configured ?? makeSigningKey();
    // The operator keeps the private key of the setting SIGNING_KEY, so the store gets only the public key.
    const toPem = () => privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const storedKey = configured === null ? toPem() : null;
    await keys.append({ n: (last?.n ?? 0) + 1, kid, publicKey, privateKey: storedKey });
  }
}

/** A public key of this service, in the form of its JWK Set (RFC 7517, RFC 8037). */
type PublishedKey = ReturnType<typeof toPublishedKey>;

const DAY_MS = 24 * 3_600_000;
/** A new key also signs reports of scans in the 24 hours before its first use. */
const BEFORE_FIRST_USE_MS = DAY_MS;
/** The `exp` of the key in use is the end of the UTC day that is 90 days ahead, so it changes daily. */
const VALID_AHEAD_MS = 90 * DAY_MS;

/**
 * Returns the key in use and the keys that were replaced in the last 90 days. `storedKeys` is sorted by time, and
 * the last key is in use. A key that was used twice is published once, from its first use to its last.
 */
export function toPublishedKeys(
  storedKeys: readonly StoredSigningKey[],
  nowMs: number,
): readonly PublishedKey[] {
  const todayMs = nowMs - (nowMs % DAY_MS);
  const byKid = new Map<string, PublishedKey>();
  for (const [index, key] of storedKeys.entries()) {
    const untilMs = storedKeys[index + 1]?.sinceMs ?? todayMs + DAY_MS + VALID_AHEAD_MS;
    if (untilMs <= nowMs - SIGNING_KEY_KEPT_MS) continue;
    const nbf = byKid.get(key.kid)?.nbf ?? toSeconds(key.sinceMs - BEFORE_FIRST_USE_MS);
    byKid.set(key.kid, toPublishedKey(key, nbf, toSeconds(untilMs)));
  }
  return [...byKid.values()];
}

/** `nbf` and `exp` are seconds since the epoch. The key signs scans from `nbf` on and before `exp`. */
function toPublishedKey({ kid, publicKey }: StoredSigningKey, nbf: number, exp: number) {
  const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey } as const;
  return { ...key, kid, use: 'sig', alg: 'EdDSA', nbf, exp } as const;
}

/** Rounds up, so that a scan in the last second of a key is before its `exp`. */
function toSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

/** A public key of a JWK Set. A stranger may have made the set. */
export type VerificationKey = {
  readonly kid: string;
  readonly x: string;
  /** True if `kid` is the thumbprint of `x`. If not, somebody changed one of them. */
  readonly hasOwnKid: boolean;
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
    hasOwnKid: kid === ownKid,
    nbfMs: toMilliseconds(nbf),
    expMs: toMilliseconds(exp),
  };
}

function toMilliseconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value * 1_000 : null;
}
