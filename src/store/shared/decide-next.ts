import type { InsertOutcome } from '../contract/insert-outcome.ts';
import type { Table, Where } from './table.ts';

/**
 * Decides a row that continues a sequence. A purge may remove the whole sequence during the insert, and another writer
 * may then start again at 1. A row whose predecessor is gone has therefore lost.
 * @param previous the key of the predecessor; null: the row begins a sequence
 * @param own finds this row alone
 */
export async function decideNext<R>(
  table: Table<R>,
  row: R,
  previous: readonly [string, number] | null,
  own: Where<R>,
): Promise<InsertOutcome> {
  const outcome = await table.decide(row);
  if (outcome === 'lost' || previous === null || (await table.get(...previous))) return outcome;
  await table.remove(own);
  return 'lost';
}
