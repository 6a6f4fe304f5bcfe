import type { LedgerEntry } from '../../store/ledger.ts';
import { parseRouteName } from '../paid-route.ts';
import { type LedgerWriter, StepLost } from './ledger.ts';
import { UNPROVED } from './reconcile.ts';

/** Publishes a paid scan, by the name of its route. */
export type PublishByRoute = ReadonlyMap<string, (scanId: string) => Promise<void>>;

/** An answer without proof of payment belongs to its payer and is not published. */
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
    // Another host has published the same scan.
    if (!(error instanceof StepLost)) throw error;
  }
}
