/** Packed reports on MongoDB: of results, and of the answers that repeat them. */
import { Binary } from 'mongodb';
import { unpackReport } from '../shared/packing.ts';
import { RETENTION_MS } from '../shared/retention.ts';
import type { MongoContext } from './context.ts';

/**
 * The report that a new answer may refer to; null where its result is about to be purged, and the
 * report with it.
 */
export async function findReferableReport(
  context: MongoContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const result = await context.results.byId(scanId);
  const isKept = result !== null && result.scannedAtMs > context.now() - RETENTION_MS.result;
  return isKept ? findReport(context, scanId) : null;
}

/** Null where there is none. */
export async function findReport(
  { reports }: MongoContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const bytes = bytesOf((await reports.byId(scanId))?.report);
  return bytes && unpackReport(bytes);
}

/** The driver hands bytes back in its own wrapper. */
export function bytesOf(stored: unknown): Uint8Array | null {
  const bytes = stored instanceof Binary ? stored.value() : stored;
  return bytes instanceof Uint8Array ? bytes : null;
}
