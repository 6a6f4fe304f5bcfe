import { randomUUID } from 'node:crypto';
import { toCensusMembers } from './census.ts';
import { announce, HostHistory, requireNewest } from './changes.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { HISTORY_ROWS_PER_HOST } from './directory.ts';
import { type PublishedScan, publishedScanToJson } from './published-scan.ts';
import { insertHostDay, type Tally } from './statistics.ts';
import { waitJitter } from './table.ts';

/**
 * Each step is an insert keyed by the scan, or rebuilds a row from such inserts. After any failure all
 * steps may therefore be run again, on this or another instance.
 */
export async function publishOn(
  context: StoreContext,
  scan: PublishedScan,
  tally?: Tally,
): Promise<void> {
  const { tables, now } = context;
  const { host, scanId } = scan;
  const history = await HostHistory.read(context, host);
  // A history of this length loses its oldest rows, so only the feed shows whether this scan had one.
  const isLong = history.seq >= HISTORY_ROWS_PER_HOST;
  if (isLong && (await tables.changes.first({ scanId }))) return;
  // A host that was never reached is neither listed nor counted.
  const isListed = history.reached || scan.reached !== false;
  if (tally !== undefined && isListed) await insertHostDay(context, scan, tally);
  const before = history.seq;
  await insertHistory(context, history, scan);
  await projectRecord(context, history);
  const isQuiet = scan.paidBy === 'census';
  await announce(context, history, { scanId, isListing: false, isQuiet });
  if (isLong) {
    await tables.history.remove({ host, seq: { upTo: history.seq - HISTORY_ROWS_PER_HOST } });
  }
  // The record includes the earlier scans, and no writer of an hour ago still needs one.
  const old = { scannedAtMs: { before: now() - RETENTION_MS.historyScan } };
  await tables.history.set({ host, seq: before }, { scan: null }, old);
}

/** Gives the scan a number in the history of its host, if it has none yet. */
async function insertHistory(
  { tables }: StoreContext,
  history: HostHistory,
  scan: PublishedScan,
): Promise<void> {
  const { scanId, host, scannedAtMs, grade, score, checksVersion, payableBy = null } = scan;
  const attempt = randomUUID();
  const facts = { scanId, scannedAtMs, grade, score, checksVersion, payableBy };
  for (;;) {
    const seq = history.seq + 1;
    const row = { ...facts, host, seq, attempt, scan: publishedScanToJson(scan) };
    const outcome = await tables.history.insertContended(row);
    await history.readNewRows();
    if (outcome === 'won') return;
    // The insert is lost when another scan took the number, or when this scan has a row already.
    if (await tables.history.first({ scanId })) return;
    await waitJitter();
  }
}

/**
 * Rewrites the host's record from its history until no row appeared meanwhile: the last writer
 * has seen them all.
 */
async function projectRecord({ tables }: StoreContext, history: HostHistory): Promise<void> {
  do {
    const { seq, firstSeenAtMs, reached } = history;
    const newest = requireNewest(history);
    const { host, scanId, scannedAtMs, grade, score, branding } = newest;
    const members = {
      scanId,
      scannedAtMs,
      grade,
      score,
      category: branding.category,
      firstSeenAtMs,
      scanCount: seq,
      reached,
      scan: publishedScanToJson(newest),
    };
    const words = toCensusMembers(await tables.census.get(host));
    const isNew = await tables.records.insert({ host, ...members, ...words });
    if (!isNew) await tables.records.set({ host }, members);
  } while (await history.readNewRows());
}
