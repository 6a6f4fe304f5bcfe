import type { StoreContext } from './context.ts';
import { unpackReport } from './packing.ts';
import { RETENTION_MS } from './retention.ts';

/**
 * Finds the report that a new answer may refer to; null when the report and its result are about to be
 * purged.
 */
export async function findReferableReport(
  context: StoreContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const result = await context.tables.results.get(scanId);
  const isKept = result !== null && result.scannedAtMs > context.now() - RETENTION_MS.result;
  return isKept ? findReport(context, scanId) : null;
}

/** Null where there is none. */
export async function findReport(
  { tables }: StoreContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const row = await tables.reports.get(scanId);
  return row && (await unpackReport(row.report));
}
