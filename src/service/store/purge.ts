import { randomUUID } from 'node:crypto';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { createWithheldCheck, purgeExcluded } from './exclusions.ts';
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
import { countHosts, foldDays, utcDay, type WordCounts } from './statistics.ts';
import { toStoredJson } from './stored-values.ts';
import type { Where } from './table.ts';
import type { Row } from './tables.ts';
import { purgeWatches } from './watches.ts';

export type PurgeReport = {
  readonly ledgerKeys: number;
  readonly answers: number;
  readonly results: number;
  /** Removed rows of all other tables. */
  readonly other: number;
};

/** @param purgeSharedTables purges the tables that only a shared store has, and returns the number of removed rows */
export async function purgeStore(
  context: StoreContext,
  purgeSharedTables: ((nowMs: number) => Promise<number>) | undefined,
  nowMs: number,
): Promise<PurgeReport> {
  const olderThan = (ageMs: number) => ({ upTo: nowMs - ageMs });
  const { unsentKey, ledgerKey } = RETENTION_MS;
  // Keys without a sent payment are purged first, because any caller can create them for free.
  const whereReleased = { state: 'released', atMs: olderThan(unsentKey) } as const;
  const unsentCount = await purgeLedger(context, nowMs, whereReleased);
  const whereTerminal = { state: { in: TERMINAL_STATES }, atMs: olderThan(ledgerKey) };
  const finishedCount = await purgeLedger(context, nowMs, whereTerminal);
  await purgeMarkers(context, nowMs);
  const answers = await purgeAnswers(context, nowMs);
  const results = await purgeResults(context, nowMs);
  await purgeReports(context, nowMs);
  const { leases, recordings, unpaid, snapshots } = context.tables;
  const removedCounts = [
    await leases.removeInBatches({ expiresAtMs: olderThan(0) }),
    await purgeIdentifiers(context, nowMs),
    await purgeOwners(context, nowMs),
    await purgeSigningKeys(context, nowMs),
    await recordings.removeInBatches({ keptAtMs: olderThan(RETENTION_MS.recording) }),
    await purgeWatches(context, nowMs),
    await unpaid.removeInBatches({ atMs: olderThan(RETENTION_MS.unpaidMark) }),
    await snapshots.removeInBatches({ takenAtMs: olderThan(RETENTION_MS.snapshot) }),
    await foldDays(context, nowMs),
    await foldCensusDays(context, nowMs),
    await purgeExcluded(context, nowMs),
    (await purgeSharedTables?.(nowMs)) ?? 0,
  ];
  const other = removedCounts.reduce((sum, count) => sum + count, 0);
  return { ledgerKeys: unsentCount + finishedCount, answers, results, other };
}

/** Purges the keys with a step in `selection` whose whole history has expired. Returns their number. */
async function purgeLedger(
  context: StoreContext,
  nowMs: number,
  selection: Where<Row<'ledger'>>,
): Promise<number> {
  const handledKeys = new Set<string>();
  let purgedCount = 0;
  const order = [['atMs', 'asc']] as const;
  for await (const rows of context.tables.ledger.batches(selection, { order })) {
    const keys = rows.map((row) => row.key).filter((key) => !handledKeys.has(key));
    for (const key of keys) handledKeys.add(key);
    const expired = (await readHistories(context, keys)).filter((entry) =>
      isHistoryExpired(entry, nowMs),
    );
    await removeHistories(context, expired);
    purgedCount += expired.length;
  }
  return purgedCount;
}

/** Removes the last step of each key last. If the purge is interrupted, the remaining keys still count as finished. */
async function removeHistories(
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

/** Purges markers of unfinished claims whose writer crashed before it wrote the claim, or after it finished the key. */
async function purgeMarkers(context: StoreContext, nowMs: number): Promise<void> {
  const { ledgerOpen } = context.tables;
  const whereOld = { sinceMs: { upTo: nowMs - RETENTION_MS.abandonedMarker } };
  for await (const markers of ledgerOpen.batches(whereOld)) {
    const keys = markers.map((marker) => marker.key);
    const entries = await readHistories(context, keys);
    const lastSteps = new Map(entries.map((entry) => [entry.key, entry.last]));
    for (const { key, claimStep } of markers) {
      const last = lastSteps.get(key);
      if (!last || (isTerminal(last.state) && claimStep !== last.step))
        await ledgerOpen.remove({ key, claimStep });
    }
  }
}

/** Rows with answers and reports are long, so fewer rows are read at a time. */
const ROWS_PER_BATCH = 100;

/** Purges answers that neither an unfinished nor a recently settled payment names. */
async function purgeAnswers(context: StoreContext, nowMs: number): Promise<number> {
  const { answers, answerChunks } = context.tables;
  const whereOld = { startedAtMs: { upTo: nowMs - RETENTION_MS.unpaidAnswer } };
  let purgedCount = 0;
  for await (const batch of answers.batches(whereOld, { size: ROWS_PER_BATCH })) {
    const ids = batch.map((answer) => answer.answerId);
    const neededIds = await findIdsInHistories(context, 'answerId', ids, (history) =>
      needsAnswer(history, nowMs),
    );
    const answerId = { in: ids.filter((id) => !neededIds.has(id)) };
    // The row is removed after its pieces. If this purge is interrupted, the next one still finds the row.
    await answerChunks.remove({ answerId });
    purgedCount += await answers.remove({ answerId });
  }
  return purgedCount;
}

/** Purges old results. Keeps those that an unfinished payment names, because it may still publish them. */
async function purgeResults(context: StoreContext, nowMs: number): Promise<number> {
  const { results } = context.tables;
  const whereOld = { scannedAtMs: { upTo: nowMs - RETENTION_MS.result } };
  let purgedCount = 0;
  for await (const batch of results.batches(whereOld, { size: ROWS_PER_BATCH })) {
    const ids = batch.map((result) => result.scanId);
    const isUnfinished = ({ last }: LedgerHistory) => !isTerminal(last.state);
    const neededIds = await findIdsInHistories(context, 'scanId', ids, isUnfinished);
    purgedCount += await results.remove({ scanId: { in: ids.filter((id) => !neededIds.has(id)) } });
  }
  return purgedCount;
}

async function purgeReports({ tables }: StoreContext, nowMs: number): Promise<void> {
  const { reports, results, answers } = tables;
  const whereOld = { scannedAtMs: { upTo: nowMs - RETENTION_MS.report } };
  for await (const batch of reports.batches(whereOld, { size: ROWS_PER_BATCH })) {
    const ids = batch.map((report) => report.scanId);
    const keptResults = await results.all({ scanId: { in: ids } });
    const keptAnswers = await answers.all({ reportOf: { in: ids } });
    const neededIds = new Set([
      ...keptResults.map(({ scanId }) => scanId),
      ...keptAnswers.map(({ reportOf }) => reportOf),
    ]);
    await reports.remove({ scanId: { in: ids.filter((id) => !neededIds.has(id)) } });
  }
}

function needsAnswer({ last, rows }: LedgerHistory, nowMs: number): boolean {
  if (!isTerminal(last.state)) return true;
  const sinceMs = nowMs - RETENTION_MS.settledAnswer;
  return rows.some((row) => row.state === 'settled' && row.atMs > sinceMs);
}

/** Finds the ids of answers or scans that a selected history names, among the histories that name one of `ids`. */
async function findIdsInHistories(
  context: StoreContext,
  member: 'answerId' | 'scanId',
  ids: readonly string[],
  isSelected: (history: LedgerHistory) => boolean,
): Promise<ReadonlySet<string | undefined>> {
  const rows = await context.tables.ledger.all({ [member]: { in: ids } });
  const keys = rows.map((row) => row.key);
  const selected = (await readHistories(context, keys)).filter(isSelected);
  return new Set(selected.flatMap((history) => history.rows.map((row) => row[member])));
}

/** Counts each finished day once, without hosts that are opted out then. Returns the number of removed old rows. */
async function foldCensusDays(context: StoreContext, nowMs: number): Promise<number> {
  const { censusWords, censusSums, censusImports } = context.tables;
  const lastSum = await censusSums.first({}, { order: [['day', 'desc']] });
  const oldestWord = await censusWords.first({}, { order: [['day', 'asc']] });
  const endDay = utcDay(nowMs - RETENTION_MS.lateWords);
  const firstDay = Math.max((lastSum?.day ?? 0) + 1, oldestWord?.day ?? endDay);
  for (let day = firstDay; day < endDay; day += 1) {
    const counts = await countWords(context, day);
    if (countHosts(counts) === 0) continue;
    const sums = toStoredJson({ ...counts }, 'the words of a day');
    await censusSums.insertContended({ day, attempt: randomUUID(), sums });
  }
  const whereOld = { day: { before: utcDay(nowMs - RETENTION_MS.daySum) } };
  const removedSums = await censusSums.removeInBatches(whereOld);
  return removedSums + (await censusImports.removeInBatches(whereOld));
}

async function countWords(context: StoreContext, day: number): Promise<WordCounts> {
  const counts = { payable: 0, not_payable: 0, down: 0, not_checked: 0 };
  for await (const rows of context.tables.censusWords.batches({ day })) {
    const isWithheld = await createWithheldCheck(context, rows);
    for (const { host, word } of rows) if (!isWithheld(host)) counts[word] += 1;
  }
  return counts;
}
