/** Work that was done for a payer who has not paid for it: kept for him, and his debt for an hour. */
import { UnpaidScans } from '../errors/errors.ts';
import type { Store } from '../store/contract/store.ts';
import { isPaid } from './ledger.ts';
import type { Purchase } from './purchase.ts';

/** So many finished scans an hour may a payer leave unpaid. */
export const UNPAID_AN_HOUR = 5;
const HOUR_MS = 3_600_000;
/** Longer than a call can take from its end of work to its settlement. */
const JUST_NOW_MS = 15 * 60_000;

type Stores = Pick<Store, 'results' | 'ledger' | 'now'>;

/** `isDebt`: the payer could have paid; false while the work goes on, and after a fault of ours. */
export async function noteUnpaid(
  { results, ledger, now }: Stores,
  { payer, request, route, input }: Purchase,
  scanId: string,
  isDebt: boolean,
): Promise<void> {
  await results.noteUnpaid({ payer, scanId, host: route.host?.(input) ?? '', isDebt });
  // Another call of this payer may have paid for it, and cleared the mark, before it was written.
  const entries = await ledger.recent({ payer, request, sinceMs: now() - JUST_NOW_MS });
  const isSold = entries.some(({ last }) => isPaid(last.state) && last.scanId === scanId);
  if (isSold) await results.clearUnpaid({ payer, scanId });
}

/** When this payer's debts of the last hour were made, newest first. */
export async function debtsOf(stores: Stores, payer: string): Promise<readonly number[]> {
  const marks = await stores.results.unpaid(payer, stores.now() - HOUR_MS);
  return marks.filter(({ isDebt }) => isDebt).map(({ atMs }) => atMs);
}

/** Refuses who left too much unpaid, unless it is for this that he wants to pay. */
export async function refuseDebtor<Input>(
  stores: Stores,
  { route, input, payer }: Purchase<Input>,
): Promise<void> {
  const debts = await debtsOf(stores, payer);
  // When this one is an hour old, no more than the allowed number is left.
  const oneTooMany = debts[UNPAID_AN_HOUR];
  if (oneTooMany === undefined || (await route.workshop?.isFinished(input, payer))) return;
  throw new UnpaidScans(Math.max(1, Math.ceil((oneTooMany + HOUR_MS - stores.now()) / 1000)));
}
