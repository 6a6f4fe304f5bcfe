import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
} from 'node:crypto';
import { membersOf } from '../model/json.ts';
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

/** RFC 7638 of an Ed25519 key (RFC 8037): only the required members, in the order of their names. */
export function thumbprint(publicKey: string): string {
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: publicKey });
  return hash('sha256', members, 'base64url');
}

/**
 * The key that this service signs with: `given`, or the one that the store keeps, made if it keeps none.
 * The store decides between instances that start at once: each reads again until it uses the last key.
 */
export async function openSigningKey(
  keys: SigningKeyStore,
  given: KeyObject | null,
): Promise<SigningKey> {
  const wanted = given === null ? null : toSigningKey(given);
  for (;;) {
    const last = (await keys.list()).at(-1);
    if (wanted !== null && last?.kid === wanted.kid) return wanted;
    if (wanted === null && last !== undefined && last.privateKey !== null) {
      return toSigningKey(createPrivateKey(last.privateKey));
    }
    const { kid, publicKey, privateKey } = wanted ?? makeSigningKey();
    // The private key of SIGNING_KEY stays with its operator.
    const pem = () => privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const storedKey = wanted === null ? pem() : null;
    await keys.append({ n: (last?.n ?? 0) + 1, kid, publicKey, privateKey: storedKey });
  }
}

/** A public key of a service, as its JWK Set has it (RFC 7517, RFC 8037). */
type PublishedKey = ReturnType<typeof toPublishedKey>;

const DAY_MS = 24 * 3_600_000;
/** A report is fresh for so long, so a new key also signs reports of scans before it. */
const BEFORE_FIRST_USE_MS = DAY_MS;
/** A key in use is announced for so long; its `exp` moves on each day, until another one takes its place. */
const ANNOUNCED_MS = 90 * DAY_MS;

/** The key in use and those of the last 90 days; `stored` is in order. A key that came back has one row. */
export function publishedKeys(
  stored: readonly StoredSigningKey[],
  nowMs: number,
): readonly PublishedKey[] {
  const today = nowMs - (nowMs % DAY_MS);
  const byKid = new Map<string, PublishedKey>();
  for (const [at, key] of stored.entries()) {
    const untilMs = stored[at + 1]?.sinceMs ?? today + DAY_MS + ANNOUNCED_MS;
    if (untilMs <= nowMs - SIGNING_KEY_KEPT_MS) continue;
    const nbf = byKid.get(key.kid)?.nbf ?? seconds(key.sinceMs - BEFORE_FIRST_USE_MS);
    byKid.set(key.kid, toPublishedKey(key, nbf, seconds(untilMs)));
  }
  return [...byKid.values()];
}

/** `nbf` and `exp` are seconds since the epoch: scans from `nbf` on may be signed with the key, those from `exp` on are not. */
function toPublishedKey({ kid, publicKey }: StoredSigningKey, nbf: number, exp: number) {
  const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey } as const;
  return { ...key, kid, use: 'sig', alg: 'EdDSA', nbf, exp } as const;
}

/** Whole seconds, rounded up, so that a scan in the last second of a key is within its time. */
function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

/** A key of a JWK Set that somebody else made. */
export type NamedKey = {
  readonly kid: string;
  readonly x: string;
  /** False if `kid` is not the thumbprint of `x`: one of the two was changed. */
  readonly isItself: boolean;
  readonly nbfMs: number | null;
  readonly expMs: number | null;
};

/** The Ed25519 keys of a JWK Set; null for JSON that is none. */
export function readKeySet(value: unknown): readonly NamedKey[] | null {
  const { keys } = membersOf(value);
  return Array.isArray(keys) ? keys.map(readKey).filter((key) => key !== null) : null;
}

function readKey(value: unknown): NamedKey | null {
  const { kty, crv, x, kid: named, nbf, exp } = membersOf(value);
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return null;
  const own = thumbprint(x);
  const kid = typeof named === 'string' ? named : own;
  return { kid, x, isItself: kid === own, nbfMs: milliseconds(nbf), expMs: milliseconds(exp) };
}

function milliseconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value * 1_000 : null;
}
