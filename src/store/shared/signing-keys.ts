import { SIGNING_KEY_KEPT_MS, type SigningKeyStore } from '../contract/signing-keys.ts';
import type { StoreContext } from './context.ts';

const IN_ORDER = { order: [['n', 'asc']] } as const;

export function signingKeysOn({ tables, now }: StoreContext): SigningKeyStore {
  return {
    list: () => tables.signingKeys.all({}, IN_ORDER),
    async append(key) {
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
