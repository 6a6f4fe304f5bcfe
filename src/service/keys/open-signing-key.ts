import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { type SigningKey, toThumbprint } from '../../scanner/attestation/key-set.ts';
import {
  SIGNING_KEY_KEPT_MS,
  type SigningKeyStore,
  type StoredSigningKey,
} from '../store/signing-keys.ts';

export function makeSigningKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** Throws TypeError for a key that is not Ed25519. */
export function toSigningKey(privateKey: KeyObject): SigningKey {
  const { crv, x } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (crv !== 'Ed25519' || x === undefined) throw new TypeError('The key is not Ed25519.');
  return { kid: toThumbprint(x), publicKey: x, privateKey };
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
/** The key in use expires 90 days after the end of this UTC day, so its `exp` changes daily. */
const VALID_AHEAD_MS = 90 * DAY_MS;

/**
 * Returns the key in use and the keys that were replaced in the last 90 days. `storedKeys` is sorted by time, and
 * the last key is in use. A key that was used twice is published once, from its first use to its last.
 */
export function toPublishedKeys(
  storedKeys: readonly StoredSigningKey[],
  nowMs: number,
): readonly PublishedKey[] {
  const endOfTodayMs = nowMs - (nowMs % DAY_MS) + DAY_MS;
  const byKid = new Map<string, PublishedKey>();
  for (const [index, key] of storedKeys.entries()) {
    const untilMs = storedKeys[index + 1]?.sinceMs ?? endOfTodayMs + VALID_AHEAD_MS;
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
