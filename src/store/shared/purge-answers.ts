import type { StoreContext } from './context.ts';
import { readHistories } from './ledger.ts';
import { isTerminal, type LedgerHistory } from './ledger-rules.ts';
import { RETENTION_MS } from './retention.ts';

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
