/** The purge on MongoDB. */
import type { Filter } from 'mongodb';
import { VERIFIED_FOR_MS } from '../contract/ownership.ts';
import { VERDICT_LIFETIME_MS } from '../contract/snapshots.ts';
import type { PurgeReport } from '../contract/store.ts';
import { isTerminal, type LedgerHistory, ledgerHistoryExpired } from '../shared/ledger.ts';
import { RETENTION_MS } from '../shared/retention.ts';
import type { MongoContext } from './context.ts';
import type { LedgerDocument } from './documents.ts';
import { ledgerId, readHistories } from './ledger.ts';
import { purgeSequences } from './purge-sequences.ts';

const BATCH = 200;

export async function purgeMongo(context: MongoContext, nowMs: number): Promise<PurgeReport> {
  const before = (ageMs: number) => ({ $lte: nowMs - ageMs });
  const { unsentKey, ledgerKey } = RETENTION_MS;
  // Keys that were claimed, released and never sent come first: any key pair can write them.
  const unsent = await purgeLedger(context, nowMs, { state: 'released', atMs: before(unsentKey) });
  const finished = await purgeLedger(context, nowMs, { atMs: before(ledgerKey) });
  const ledgerKeys = unsent + finished;
  await purgeMarkers(context, nowMs);
  const answers = await purgeAnswers(context, nowMs);
  const results = await purgeResults(context, nowMs);
  await purgeReports(context, nowMs);
  const { unpaid, snapshots, verdicts, confirms, limits, instances } = context;
  const removed = await Promise.all([
    purgeSequences(context, nowMs),
    unpaid.removeInBatches({ atMs: before(RETENTION_MS.unpaidMark) }, BATCH),
    snapshots.removeInBatches({ takenAtMs: before(RETENTION_MS.snapshot) }, BATCH),
    verdicts.removeInBatches({ atMs: before(VERDICT_LIFETIME_MS) }, BATCH),
    confirms.removeInBatches({ atMs: before(VERIFIED_FOR_MS) }, BATCH),
    limits.removeInBatches({ resetAtMs: { $lte: nowMs } }, BATCH),
    instances.removeInBatches({ beatAtMs: before(RETENTION_MS.silentHost) }, BATCH),
  ]);
  return { ledgerKeys, answers, results, other: removed.reduce((sum, count) => sum + count, 0) };
}

async function purgeLedger(
  context: MongoContext,
  nowMs: number,
  old: Filter<LedgerDocument>,
): Promise<number> {
  const options = { sort: { atMs: 1 }, projection: { key: 1 } } as const;
  const seen = new Set<string>();
  let purged = 0;
  for await (const rows of context.ledger.batches(old, options, BATCH)) {
    const keys = rows.map((row) => row.key).filter((key) => !seen.has(key));
    for (const key of keys) seen.add(key);
    const expired = (await readHistories(context, keys)).filter((entry) =>
      ledgerHistoryExpired(entry, nowMs),
    );
    await removeEntries(context, expired);
    purged += expired.length;
  }
  return purged;
}

/** The last steps go last: a purge that breaks off leaves keys that are still finished. */
async function removeEntries(
  { ledger, ledgerOpen, ledgerWritten }: MongoContext,
  entries: readonly LedgerHistory[],
): Promise<void> {
  if (entries.length === 0) return;
  const keys = entries.map((entry) => entry.key);
  const before = entries.flatMap(({ rows, last }) => rows.filter((row) => row !== last));
  await ledger.remove({ _id: { $in: before.map(ledgerId) } });
  // A claim's marker has the id of its step.
  const steps = entries.flatMap(({ rows }) => rows.map(ledgerId));
  await ledgerOpen.remove({ _id: { $in: steps } });
  await ledgerWritten.remove({ _id: { $in: keys } });
  await ledger.remove({ _id: { $in: entries.map(({ last }) => ledgerId(last)) } });
}

/** Markers whose claim was never made, or whose key was finished by a writer that then died. */
async function purgeMarkers(context: MongoContext, nowMs: number): Promise<void> {
  const old = { sinceMs: { $lte: nowMs - RETENTION_MS.abandonedMarker } };
  for await (const markers of context.ledgerOpen.batches(old, {}, BATCH)) {
    const entries = await readHistories(
      context,
      markers.map((marker) => marker.key),
    );
    const last = new Map(entries.map((entry) => [entry.key, entry.last]));
    const over = markers.filter(({ key, claimStep }) => {
      const step = last.get(key);
      return step ? isTerminal(step.state) && claimStep !== step.step : true;
    });
    await context.ledgerOpen.remove({ _id: { $in: over.map((marker) => marker._id) } });
  }
}

async function purgeAnswers(context: MongoContext, nowMs: number): Promise<number> {
  const { answers, chunks } = context;
  const old = { startedAtMs: { $lte: nowMs - RETENTION_MS.unpaidAnswer } };
  const options = { projection: { _id: 1 } };
  let purged = 0;
  for await (const batch of answers.batches(old, options, BATCH)) {
    const ids = batch.map((answer) => answer._id);
    const naming = await entriesNaming(context, 'answerId', ids);
    const free = ids.filter(
      (answerId) => !naming.get(answerId)?.some((entry) => needsAnswer(entry, nowMs)),
    );
    // Pieces first: the row is what a purge that breaks off finds them by again.
    await chunks.remove({ answerId: { $in: free } });
    purged += await answers.remove({ _id: { $in: free } });
  }
  return purged;
}

function needsAnswer({ last, rows }: LedgerHistory, nowMs: number): boolean {
  if (!isTerminal(last.state)) return true;
  const sinceMs = nowMs - RETENTION_MS.settledAnswer;
  return rows.some((row) => row.state === 'settled' && row.atMs > sinceMs);
}

/** A scan that an unfinished payment names must still be publishable. */
async function purgeResults(context: MongoContext, nowMs: number): Promise<number> {
  const old = { scannedAtMs: { $lte: nowMs - RETENTION_MS.result } };
  let purged = 0;
  for await (const batch of context.results.batches(old, { projection: { _id: 1 } }, BATCH)) {
    const ids = batch.map((result) => result._id);
    const naming = await entriesNaming(context, 'scanId', ids);
    const free = ids.filter((scanId) =>
      (naming.get(scanId) ?? []).every((entry) => isTerminal(entry.last.state)),
    );
    purged += await context.results.remove({ _id: { $in: free } });
  }
  return purged;
}

/** Reports whose result is gone, and to which no answer refers. */
async function purgeReports(
  { reports, results, answers }: MongoContext,
  nowMs: number,
): Promise<void> {
  const old = { scannedAtMs: { $lte: nowMs - RETENTION_MS.report } };
  for await (const batch of reports.batches(old, { projection: { _id: 1 } }, BATCH)) {
    const ids = batch.map((report) => report._id);
    const ofResults = await results.all({ _id: { $in: ids } }, { projection: { _id: 1 } });
    const ofAnswers = await answers.all(
      { reportOf: { $in: ids } },
      { projection: { reportOf: 1 } },
    );
    const needed = new Set<string | null>([
      ...ofResults.map(({ _id }) => _id),
      ...ofAnswers.map(({ reportOf }) => reportOf),
    ]);
    await reports.remove({ _id: { $in: ids.filter((id) => !needed.has(id)) } });
  }
}

/** Whole ledger entries by the answer, or scan, that any of their steps names. */
async function entriesNaming(
  context: MongoContext,
  member: 'answerId' | 'scanId',
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly LedgerHistory[]>> {
  const rows = await context.ledger.all(
    member === 'answerId' ? { answerId: { $in: [...ids] } } : { scanId: { $in: [...ids] } },
    { projection: { key: 1 } },
  );
  const entries = await readHistories(
    context,
    rows.map((row) => row.key),
  );
  const naming = new Map<string, LedgerHistory[]>();
  for (const entry of entries) {
    for (const id of new Set(entry.rows.map((row) => row[member]))) {
      if (id !== undefined) naming.set(id, [...(naming.get(id) ?? []), entry]);
    }
  }
  return naming;
}
