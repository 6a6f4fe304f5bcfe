import { foldCensusDays } from './census.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { purgeIdentifiers } from './identifiers.ts';
import {
  isHistoryExpired,
  isTerminal,
  type LedgerHistory,
  readHistories,
  TERMINAL_STATES,
} from './ledger.ts';
import { purgeOwners } from './owners.ts';
import { purgeSigningKeys } from './signing-keys.ts';
import { foldDays } from './statistics.ts';
import type { Where } from './table.ts';
import type { Row } from './tables.ts';
import { purgeWatches } from './watches.ts';

/** Numbers of removed rows by kind; of answers, the number of answers. */
export type PurgeReport = {
  readonly ledgerKeys: number;
  readonly answers: number;
  readonly results: number;
  readonly other: number;
};

/** @param purgeSharing purges the tables of a shared store, and returns the number of rows */
export async function purgeOn(
  context: StoreContext,
  purgeSharing: ((nowMs: number) => Promise<number>) | undefined,
  nowMs: number,
): Promise<PurgeReport> {
  const before = (ageMs: number) => ({ upTo: nowMs - ageMs });
  const { unsentKey, ledgerKey } = RETENTION_MS;
  // Keys that were never sent are purged first, because any key pair can create them for free.
  const unsent = await purgeLedger(context, nowMs, { state: 'released', atMs: before(unsentKey) });
  const ended = { state: { in: TERMINAL_STATES }, atMs: before(ledgerKey) };
  const finished = await purgeLedger(context, nowMs, ended);
  await purgeMarkers(context, nowMs);
  const answers = await purgeAnswers(context, nowMs);
  const results = await purgeResults(context, nowMs);
  await purgeReports(context, nowMs);
  const { slots, recordings, unpaid, snapshots } = context.tables;
  const removed = [
    await slots.removeInBatches({ expiresAtMs: before(0) }),
    await purgeIdentifiers(context, nowMs),
    await purgeOwners(context, nowMs),
    await purgeSigningKeys(context, nowMs),
    await recordings.removeInBatches({ keptAtMs: before(RETENTION_MS.recording) }),
    await purgeWatches(context, nowMs),
    await unpaid.removeInBatches({ atMs: before(RETENTION_MS.unpaidMark) }),
    await snapshots.removeInBatches({ takenAtMs: before(RETENTION_MS.snapshot) }),
    await foldDays(context, nowMs),
    await foldCensusDays(context, nowMs),
    (await purgeSharing?.(nowMs)) ?? 0,
  ];
  const other = removed.reduce((sum, count) => sum + count, 0);
  return { ledgerKeys: unsent + finished, answers, results, other };
}

async function purgeLedger(
  context: StoreContext,
  nowMs: number,
  old: Where<Row<'ledger'>>,
): Promise<number> {
  const seen = new Set<string>();
  let purged = 0;
  const order = [['atMs', 'asc']] as const;
  for await (const rows of context.tables.ledger.batches(old, { order })) {
    const keys = rows.map((row) => row.key).filter((key) => !seen.has(key));
    for (const key of keys) seen.add(key);
    const expired = (await readHistories(context, keys)).filter((entry) =>
      isHistoryExpired(entry, nowMs),
    );
    await removeEntries(context, expired);
    purged += expired.length;
  }
  return purged;
}

/** Removes the last steps last, so that a purge that breaks off leaves keys that still count as finished. */
async function removeEntries(
  { tables: { ledger, ledgerOpen, ledgerWritten } }: StoreContext,
  entries: readonly LedgerHistory[],
): Promise<void> {
  if (entries.length === 0) return;
  const keys = { in: entries.map((entry) => entry.key) };
  for (const { key, last } of entries) await ledger.remove({ key, step: { before: last.step } });
  for (const { key, last } of entries) {
    await ledgerOpen.remove({ key, claimStep: { upTo: last.step } });
  }
  await ledgerWritten.remove({ key: keys });
  for (const { key, last } of entries) await ledger.remove({ key, step: last.step });
}

/** Purges markers whose claim was never written, or whose key was finished by a writer that then crashed. */
async function purgeMarkers(context: StoreContext, nowMs: number): Promise<void> {
  const { ledgerOpen } = context.tables;
  const old = { sinceMs: { upTo: nowMs - RETENTION_MS.abandonedMarker } };
  for await (const markers of ledgerOpen.batches(old)) {
    const entries = await readHistories(
      context,
      markers.map((marker) => marker.key),
    );
    const last = new Map(entries.map((entry) => [entry.key, entry.last]));
    for (const { key, claimStep } of markers) {
      const step = last.get(key);
      const isOver = step ? isTerminal(step.state) && claimStep !== step.step : true;
      if (isOver) await ledgerOpen.remove({ key, claimStep });
    }
  }
}

/** These rows hold bodies, so few are read at a time. */
const BATCH = 100;

/** Purges answers that neither an unfinished nor a recently settled payment names. */
export async function purgeAnswers(context: StoreContext, nowMs: number): Promise<number> {
  const { answers, answerChunks } = context.tables;
  const old = { startedAtMs: { upTo: nowMs - RETENTION_MS.unpaidAnswer } };
  let purged = 0;
  for await (const batch of answers.batches(old, { size: BATCH })) {
    const ids = batch.map((answer) => answer.answerId);
    const naming = await entriesNaming(context, 'answerId', ids);
    const isNeeded = (id: string) => naming.get(id)?.some((entry) => needsAnswer(entry, nowMs));
    const answerId = { in: ids.filter((id) => !isNeeded(id)) };
    // Pieces are removed before the row, by which the next purge finds them if this one breaks off.
    await answerChunks.remove({ answerId });
    purged += await answers.remove({ answerId });
  }
  return purged;
}

/** Keeps results that an unfinished payment names, because it may still publish them. */
export async function purgeResults(context: StoreContext, nowMs: number): Promise<number> {
  const { results } = context.tables;
  const old = { scannedAtMs: { upTo: nowMs - RETENTION_MS.result } };
  let purged = 0;
  for await (const batch of results.batches(old, { size: BATCH })) {
    const ids = batch.map((result) => result.scanId);
    const naming = await entriesNaming(context, 'scanId', ids);
    const isFree = (id: string) =>
      (naming.get(id) ?? []).every(({ last }) => isTerminal(last.state));
    purged += await results.remove({ scanId: { in: ids.filter(isFree) } });
  }
  return purged;
}

/** Purges reports without a result to which no answer refers. */
export async function purgeReports({ tables }: StoreContext, nowMs: number): Promise<void> {
  const { reports, results, answers } = tables;
  const old = { scannedAtMs: { upTo: nowMs - RETENTION_MS.report } };
  for await (const batch of reports.batches(old, { size: BATCH })) {
    const ids = batch.map((report) => report.scanId);
    const ofResults = await results.all({ scanId: { in: ids } });
    const ofAnswers = await answers.all({ reportOf: { in: ids } });
    const needed = new Set([
      ...ofResults.map(({ scanId }) => scanId),
      ...ofAnswers.map(({ reportOf }) => reportOf),
    ]);
    await reports.remove({ scanId: { in: ids.filter((id) => !needed.has(id)) } });
  }
}

function needsAnswer({ last, rows }: LedgerHistory, nowMs: number): boolean {
  if (!isTerminal(last.state)) return true;
  const sinceMs = nowMs - RETENTION_MS.settledAnswer;
  return rows.some((row) => row.state === 'settled' && row.atMs > sinceMs);
}

/** Groups whole ledger entries by the answer, or scan, that any of their steps names. */
async function entriesNaming(
  context: StoreContext,
  member: 'answerId' | 'scanId',
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly LedgerHistory[]>> {
  const rows = await context.tables.ledger.all({ [member]: { in: ids } });
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
