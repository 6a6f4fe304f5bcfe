import { randomUUID } from 'node:crypto';
import { HISTORY_ROWS_PER_HOST } from '../history-store.ts';
import type { PublishedScan } from '../published-scan.ts';
import { GRAM_LENGTH, gramsOf } from '../rules/grams.ts';
import { nextChange } from '../rules/next-change.ts';
import { publishedScanFromJson, publishedScanToJson } from '../rules/published-scan-json.ts';
import { StoreError } from '../store-error.ts';
import { backOff } from './back-off.ts';
import type { HistoryDocument } from './documents.ts';
import { idOf } from './id-of.ts';
import { insertChange } from './mongo-changes.ts';
import type { MongoContext } from './mongo-context.ts';

const NEWEST = { sort: { scannedAtMs: -1, scanId: -1 } } as const;
const GREATEST_SEQ = { sort: { seq: -1 } } as const;

/**
 * Each part is an insert keyed by the scan, or a rewriting from what was inserted, so the whole may
 * be run again from the start, here or elsewhere, after any failure.
 */
export async function publishToMongo(context: MongoContext, scan: PublishedScan): Promise<void> {
  const { scanId } = scan;
  // The change is the last part: with it, nothing is left to do.
  if (await isInFeed(context, scanId)) return;
  const seq = await insertHistory(context, scan);
  await projectRecord(context, scan.host);
  await appendChange(context, scan);
  if (seq > HISTORY_ROWS_PER_HOST) await trimHistory(context, scan.host);
}

async function isInFeed({ changes }: MongoContext, scanId: string): Promise<boolean> {
  return (await changes.first({ scanId }, { projection: { _id: 1 } })) !== null;
}

/** The number that the scan has, or gets, in the history of its host. */
async function insertHistory(context: MongoContext, scan: PublishedScan): Promise<number> {
  const { history } = context;
  const { scanId, host, scannedAtMs, grade, score, checksVersion } = scan;
  const attempt = randomUUID();
  for (;;) {
    const tail = await history.first({ host }, GREATEST_SEQ);
    const seq = (tail?.seq ?? 0) + 1;
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
      firstSeenAtMs: Math.min(tail?.firstSeenAtMs ?? scannedAtMs, scannedAtMs),
      scan: publishedScanToJson(scan),
    };
    if ((await history.decide(row, { $or: [{ _id }, { scanId }] })) === 'won') return seq;
    const there = await history.first({ scanId });
    if (there) return there.seq;
    await backOff();
  }
}

/**
 * Rewrites the host's record from its newest history row, until no row appeared meanwhile: whoever
 * writes last has seen them all.
 */
async function projectRecord(context: MongoContext, host: string): Promise<void> {
  const { history, records } = context;
  let tail = await history.first({ host }, GREATEST_SEQ);
  for (;;) {
    if (!tail) throw lostHistory(host);
    const { scanId, scannedAtMs, grade, score, scan } = await newestOf(context, host);
    await records.replace({
      _id: host,
      scanId,
      scannedAtMs,
      grade,
      score,
      category: publishedScanFromJson(scan).branding.category,
      firstSeenAtMs: tail.firstSeenAtMs,
      scanCount: tail.seq,
      scan,
      grams: [1, 2, GRAM_LENGTH].flatMap((length) => gramsOf(host, length)),
    });
    const after = await history.first({ host }, GREATEST_SEQ);
    if (after?.seq === tail.seq) return;
    tail = after;
  }
}

async function appendChange(context: MongoContext, { scanId, host }: PublishedScan): Promise<void> {
  const { changes, now } = context;
  const attempt = randomUUID();
  for (;;) {
    const tail = await changes.first({}, { sort: { _id: -1 } });
    // Both are read after the tail: whatever the feed has announced by then is in the history too,
    // and if the number after the tail is won, nothing was announced in between.
    const ofHost = { host, _id: { $lte: tail?._id ?? 0 } };
    const [lastOfHost, newest] = await Promise.all([
      changes.first(ofHost, { sort: { _id: -1 } }),
      newestOf(context, host),
    ]);
    const change = nextChange({
      scanId,
      current: publishedScanFromJson(newest.scan),
      tail: tail && { n: tail._id, changedAtMs: tail.changedAtMs },
      lastOfHost,
      nowMs: now(),
    });
    if ((await insertChange(context, change, attempt)) === 'won') return;
    if (await isInFeed(context, scanId)) return;
    await backOff();
  }
}

async function newestOf({ history }: MongoContext, host: string): Promise<HistoryDocument> {
  const newest = await history.first({ host }, NEWEST);
  if (!newest) throw lostHistory(host);
  return newest;
}

function lostHistory(host: string): StoreError {
  return new StoreError('corrupt', `the history of ${host} is gone; restore from a backup`);
}

/** The greatest number stays even where its scan is among the oldest. */
async function trimHistory({ history }: MongoContext, host: string): Promise<void> {
  const tail = await history.first({ host }, GREATEST_SEQ);
  const projection = { _id: 1, seq: 1 };
  const extra = await history.all({ host }, { ...NEWEST, skip: HISTORY_ROWS_PER_HOST, projection });
  const ids = extra.filter((row) => row.seq !== tail?.seq).map((row) => row._id);
  if (ids.length > 0) await history.remove({ _id: { $in: ids } });
}
