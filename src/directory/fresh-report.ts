import { type FinishedScan, fromStoredReport } from '../scan/finished-scan.ts';
import type { Store } from '../store/store.ts';
import { isFresh } from './freshness.ts';

/** The published report of a host if it is younger than 24 hours, opted out or not; else null. */
export async function findFreshReport(store: Store, host: string): Promise<FinishedScan | null> {
  const result = await store.results.published(host);
  if (result === null || !isFresh(result.scannedAtMs, store.now())) return null;
  return fromStoredReport(result);
}
