/** The step after `settled`. */
import type { LedgerEntry } from '../../store/contract/ledger.ts';
import { parseRouteName } from '../paid-route.ts';
import { type LedgerWriter, StepLost } from './ledger.ts';
import { UNPROVED } from './reconcile.ts';

/** Makes what a paid scan found public; routes by name, those that publish something. */
export type PublishByRoute = ReadonlyMap<string, (scanId: string) => Promise<void>>;

/** Given to its payer without proof that it was paid for: so it is the payer's alone. */
export function isUnproved(entry: LedgerEntry): boolean {
  return entry.rows.some(({ state, data }) => state === 'settled' && data['how'] === UNPROVED);
}

/**
 * Publishes, then says so; what is unproved is only said. May be run again after a crash, and by
 * several hosts at once. Rejects where publishing failed, and then is to be run again.
 */
export async function publishSettled(
  routes: PublishByRoute,
  writer: LedgerWriter,
  isWithoutProof = false,
): Promise<void> {
  const { request, scanId } = writer.facts;
  const publish = routes.get(parseRouteName(request));
  if (!isWithoutProof && publish !== undefined && scanId !== undefined) await publish(scanId);
  try {
    await writer.write('published', {});
  } catch (error) {
    // Another host has published the same, which is as good.
    if (!(error instanceof StepLost)) throw error;
  }
}
