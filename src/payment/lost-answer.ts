import type { Store } from '../store/contract/store.ts';
import { settledAtMs } from './ledger-rows.ts';
import type { PaidWork } from './paid-work.ts';
import { isInDoubt, isPaid } from './transitions.ts';

/** For so long after it was settled an answer that nobody got whole is owed to its payer. */
const OWED_MS = 10 * 60_000;

/**
 * The key under which this payer has paid, or may have, for this very request without having got
 * the answer in full: clients that lose an answer sign anew, and must not pay twice. Null where
 * there is none.
 */
export async function findLostAnswer(
  store: Pick<Store, 'ledger' | 'now'>,
  { key, payer, request }: Pick<PaidWork, 'key' | 'payer' | 'request'>,
  isWritten: (key: string) => boolean,
): Promise<string | null> {
  const sinceMs = store.now() - OWED_MS;
  const entries = await store.ledger.recent({ payer, request, sinceMs });
  const owed = entries.find((entry) => {
    if (entry.key === key) return false;
    if (isInDoubt(entry.last.state)) return true;
    if (!isPaid(entry.last.state) || entry.writtenAtMs !== null) return false;
    return (settledAtMs(entry) ?? 0) >= sinceMs && !isWritten(entry.key);
  });
  return owed?.key ?? null;
}
