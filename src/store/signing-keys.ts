import type { StoreContext } from './context.ts';

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
  /** PKCS#8 PEM of a key that an instance on this store made; null if its operator keeps it. */
  readonly privateKey: string | null;
  /** Database time, ms. The key is in use from then until the next key's `sinceMs`. */
  readonly sinceMs: number;
};

const IN_ORDER = { order: [['n', 'asc']] } as const;

export type SigningKeyStore = ReturnType<typeof signingKeysOn>;

export function signingKeysOn({ tables, now }: StoreContext) {
  return {
    /** Oldest first; those that were replaced over 90 days ago may be gone. */
    list: (): Promise<readonly StoredSigningKey[]> => tables.signingKeys.all({}, IN_ORDER),
    /** Puts a key in use; does nothing when another instance has inserted a key with this number. */
    async append(key: Omit<StoredSigningKey, 'sinceMs'>): Promise<void> {
      await tables.signingKeys.insert({ ...key, sinceMs: now() });
    },
  };
}

/** Keys whose successor has been in use for 90 days; the key in use has none. */
export async function purgeSigningKeys(
  { tables }: Pick<StoreContext, 'tables'>,
  nowMs: number,
): Promise<number> {
  const keys = await tables.signingKeys.all({}, IN_ORDER);
  const old = keys.filter((_key, at) => {
    const next = keys[at + 1];
    return next !== undefined && next.sinceMs <= nowMs - SIGNING_KEY_KEPT_MS;
  });
  const last = old.at(-1);
  return last === undefined ? 0 : tables.signingKeys.remove({ n: { upTo: last.n } });
}
