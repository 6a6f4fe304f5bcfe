/** Publication of a scan: history, record, change on MongoDB. */
import { randomUUID } from 'node:crypto';
import { HISTORY_ROWS_PER_HOST } from '../contract/history.ts';
import type { PublishedScan } from '../contract/published-scan.ts';
import { StoreError } from '../contract/store-error.ts';
import { nextChange } from '../shared/changes.ts';
import { publishedScanToJson } from '../shared/published-scan.ts';
import { changeId } from './change-feed.ts';
import { insertChange } from './changes.ts';
import type { MongoContext } from './context.ts';
import type { ChangeDocument, HistoryDocument } from './documents.ts';
import { HostHistory } from './host-history.ts';
import type { Table } from './table.ts';
import { idOf, jitter } from './table.ts';

/**
 * Each part is an insert keyed by the scan, or a rewriting from what was inserted, so the whole may
 * be run again from the start, here or elsewhere, after any failure.
 */
export async function publishToMongo(context: MongoContext, scan: PublishedScan): Promise<void> {
  const history = await HostHistory.follow(context, scan.host);
  // Rows are dropped from here on; only the feed still knows whether this scan had one.
  const isLong = history.seq >= HISTORY_ROWS_PER_HOST;
  if (isLong && (await context.changes.first({ scanId: scan.scanId }))) return;
  await insertHistory(context, history, scan);
  await projectRecord(context, history);
  await context.feed.inTurn(() => appendChange(context, history, scan.scanId));
  if (isLong) await trimHistory(context, scan.host, history.seq);
}

/** Tells, after a lost insert, whether the scan has a row already or another scan took the number. */
async function isThere(
  table: Table<HistoryDocument> | Table<ChangeDocument>,
  _id: string,
  scanId: string,
): Promise<boolean> {
  const holder = await table.byId(_id);
  if (holder) return holder.scanId === scanId;
  return (await table.first({ scanId }, { projection: { _id: 1 } })) !== null;
}

/** Gives the scan a number in the history of its host, if it has none yet. */
async function insertHistory(
  { history: rows }: MongoContext,
  history: HostHistory,
  scan: PublishedScan,
): Promise<void> {
  const { scanId, host, scannedAtMs, grade, score, checksVersion } = scan;
  const attempt = randomUUID();
  for (;;) {
    const seq = history.seq + 1;
    const _id = idOf(host, seq);
    const row: HistoryDocument = {
      _id,
      attempt,
      host,
      seq,
      scanId,
      scannedAtMs,
      grade,
      score,
      checksVersion,
      firstSeenAtMs: Math.min(history.firstSeenAtMs, scannedAtMs),
      scan: publishedScanToJson(scan),
    };
    const outcome = await rows.decide(row, { scanId });
    await history.catchUp();
    if (outcome === 'won' || (await isThere(rows, _id, scanId))) return;
    await jitter();
  }
}

/**
 * Rewrites the host's record from its history until no row appeared meanwhile: the last writer
 * has seen them all.
 */
async function projectRecord({ records }: MongoContext, history: HostHistory): Promise<void> {
  do {
    const { seq, firstSeenAtMs } = history;
    const newest = newestOf(history);
    const { host, scanId, scannedAtMs, grade, score } = newest;
    await records.replace({
      _id: host,
      scanId,
      scannedAtMs,
      grade,
      score,
      category: newest.branding.category,
      firstSeenAtMs,
      scanCount: seq,
      scan: publishedScanToJson(newest),
    });
  } while (await history.catchUp());
}

async function appendChange(
  context: MongoContext,
  history: HostHistory,
  scanId: string,
): Promise<void> {
  const { feed, now } = context;
  const attempt = randomUUID();
  for (;;) {
    const tail = await feed.tail();
    const lastOfHost = await feed.lastOf(newestOf(history).host, tail?.n ?? 0);
    // After the tail was read: whatever the feed has announced by then is in the history too. And
    // if the number after the tail is won, nothing was announced in between.
    await history.catchUp();
    const current = newestOf(history);
    const change = nextChange({ scanId, current, tail, lastOfHost, nowMs: now() });
    if ((await insertChange(context, change, attempt)) === 'won') return;
    if (await isThere(context.changes, changeId(change.n), scanId)) return;
    await jitter();
  }
}

function newestOf({ newest }: HostHistory): PublishedScan {
  if (newest) return newest;
  throw new StoreError('corrupt', 'a history lost its rows; restore the store from a backup');
}

async function trimHistory({ history }: MongoContext, host: string, seq: number): Promise<void> {
  await history.remove({ host, seq: { $lte: seq - HISTORY_ROWS_PER_HOST } });
}
