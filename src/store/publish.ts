import { randomUUID } from 'node:crypto';
import { toCensusMembers } from './census.ts';
import { announce, HostHistory, requireNewestScan } from './changes.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { HISTORY_ROWS_PER_HOST } from './directory.ts';
import { type PublishedScan, publishedScanToJson, toScanMembers } from './published-scan.ts';
import { insertHostDay, type Tally } from './statistics.ts';
import { waitJitter } from './table.ts';

/**
 * Publishes a scan. Each step inserts a row that is unique for the scan, or rebuilds a row from such rows. After a
 * failure this or another instance may therefore run all steps again.
 */
export async function publishOn(
  context: StoreContext,
  scan: PublishedScan,
  tally?: Tally,
): Promise<void> {
  const { tables, now } = context;
  const { host, scanId } = scan;
  const history = await HostHistory.read(context, host);
  // A long history loses its oldest rows, and this scan's row may be among them. Changes are never removed.
  const isLong = history.seq >= HISTORY_ROWS_PER_HOST;
  if (isLong && (await tables.changes.first({ scanId }))) return;
  // A host that never answered a scan is neither listed nor counted.
  const isReached = history.reached || scan.reached !== false;
  if (tally !== undefined && isReached) await insertHostDay(context, scan, tally);
  const previousSeq = history.seq;
  await insertHistory(context, history, scan);
  await rebuildRecord(context, history);
  const isQuiet = scan.paidBy === 'census';
  await announce(context, history, { scanId, isListing: false, isQuiet });
  if (isLong) {
    await tables.history.remove({ host, seq: { upTo: history.seq - HISTORY_ROWS_PER_HOST } });
  }
  // The record includes the scans of earlier rows. No publication takes an hour, so nobody still reads such a scan.
  const olderThanAnHour = { scannedAtMs: { before: now() - RETENTION_MS.historyScan } };
  await tables.history.set({ host, seq: previousSeq }, { scan: null }, olderThanAnHour);
}

/** Inserts the scan with the next number into the history of its host, unless the scan has a row. */
async function insertHistory(
  { tables }: StoreContext,
  history: HostHistory,
  scan: PublishedScan,
): Promise<void> {
  const { scanId, host, scannedAtMs, grade, score, checksVersion, payableBy = null } = scan;
  const attempt = randomUUID();
  const paidBy = scan.paidBy === 'census' ? scan.paidBy : null;
  const { scannerVersion = null } = scan;
  const verdict = { grade, score, checksVersion, scannerVersion, payableBy };
  const facts = { scanId, scannedAtMs, ...verdict, paidBy };
  for (;;) {
    const seq = history.seq + 1;
    const row = { ...facts, host, seq, attempt, scan: publishedScanToJson(scan) };
    const outcome = await tables.history.insertContended(row);
    await history.readNewRows();
    if (outcome === 'won') return;
    // The insert was lost because another scan took the number, or because this scan has a row already.
    if (await tables.history.first({ scanId })) return;
    await waitJitter();
  }
}

/**
 * Rewrites the host's record from its history, and again if rows were added meanwhile. Of several writers, the last one
 * has therefore read all rows.
 */
async function rebuildRecord({ tables }: StoreContext, history: HostHistory): Promise<void> {
  do {
    const { seq, firstSeenAtMs, reached, newestPaidScan } = history;
    const newestScan = requireNewestScan(history);
    const { host } = newestScan;
    const paidScan = newestPaidScan && publishedScanToJson(newestPaidScan);
    const scanMembers = toScanMembers(newestScan, paidScan);
    const members = { ...scanMembers, firstSeenAtMs, scanCount: seq, reached };
    const censusMembers = toCensusMembers(await tables.census.get(host));
    const isNew = await tables.records.insert({ host, ...members, ...censusMembers });
    if (!isNew) await tables.records.set({ host }, members);
  } while (await history.readNewRows());
}
