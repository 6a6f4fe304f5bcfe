/** The public keys of a service, as a JWK Set (RFC 7517, RFC 8037). */
import { SIGNING_KEY_KEPT_MS, type StoredSigningKey } from '../store/signing-keys.ts';

export type PublishedKey = {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
  /** Seconds since the epoch: scans from then on may be signed with it. */
  readonly nbf: number;
  /** Seconds since the epoch: scans from then on are not. */
  readonly exp: number;
};

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

function toPublishedKey({ kid, publicKey }: StoredSigningKey, nbf: number, exp: number) {
  const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey } as const;
  return { ...key, kid, use: 'sig', alg: 'EdDSA', nbf, exp } as const;
}

/** Whole seconds, rounded up, so that a scan in the last second of a key is within its time. */
function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
