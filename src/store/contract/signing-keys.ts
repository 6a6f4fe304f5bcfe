/** The keys that sign reports, in the order of their use. */

/** A replaced key stays in the published key set for this long. */
export const SIGNING_KEY_KEPT_MS = 90 * 24 * 3_600_000;

export type StoredSigningKey = {
  /** 1, 2, 3 …: the greatest is in use. */
  readonly n: number;
  /** Names the key: its RFC 7638 thumbprint. */
  readonly kid: string;
  /** Base64url. */
  readonly publicKey: string;
  /** PKCS#8 PEM of a key that a host of this store made; null where its operator keeps it. */
  readonly privateKey: string | null;
  /** Database time, ms. The key is in use from then until the next key's `sinceMs`. */
  readonly sinceMs: number;
};

export type SigningKeyStore = {
  /** Oldest first; those that were replaced over 90 days ago may be gone. */
  list(): Promise<readonly StoredSigningKey[]>;

  /** Puts a key in use; does nothing when another instance has inserted a key with this number. */
  append(key: Omit<StoredSigningKey, 'sinceMs'>): Promise<void>;
};
