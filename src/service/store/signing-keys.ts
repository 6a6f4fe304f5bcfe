import type { StoreContext, TablesContext } from './context.ts';
import type { Row } from './tables.ts';

/** A replaced key stays in the published key set for this long. */
export const SIGNING_KEY_KEPT_MS = 90 * 24 * 3_600_000;

export type StoredSigningKey = Row<'signingKeys'>;

const IN_ORDER = { order: [['n', 'asc']] } as const;

export type SigningKeyStore = ReturnType<typeof createSigningKeyStore>;

export function createSigningKeyStore({ tables, now }: StoreContext) {
  return {
    /** Lists the keys, oldest first. Keys that were replaced over 90 days ago may be purged. */
    list: (): Promise<readonly StoredSigningKey[]> => tables.signingKeys.all({}, IN_ORDER),
    /** Puts a key in use. Does nothing if another instance has inserted a key with the same number. */
    async append(key: Omit<StoredSigningKey, 'sinceMs'>): Promise<void> {
      await tables.signingKeys.insert({ ...key, sinceMs: now() });
    },
  };
}

/** Removes keys whose successor has been in use for 90 days. The key in use has no successor. */
export async function purgeSigningKeys({ tables }: TablesContext, nowMs: number): Promise<number> {
  const keys = await tables.signingKeys.all({}, IN_ORDER);
  const expiredKeys = keys.filter((_key, at) => {
    const next = keys[at + 1];
    return next !== undefined && next.sinceMs <= nowMs - SIGNING_KEY_KEPT_MS;
  });
  const lastKey = expiredKeys.at(-1);
  return lastKey === undefined ? 0 : tables.signingKeys.remove({ n: { upTo: lastKey.n } });
}
