/** Selects what readers see of withheld hosts: their owner has opted out, or the operator has excluded them. */
import { randomUUID } from 'node:crypto';
import { toCensusMembers } from './census.ts';
import { RETENTION_MS, type StoreContext, type TablesContext } from './context.ts';
import { findOptedOutHosts, findOwnerStates } from './owners.ts';
import { publishedScanFromJson, toScanMembers } from './published-scan.ts';
import type { Row } from './tables.ts';

/** Null, which stands for a host that is not excluded, is not after 0. */
const IS_EXCLUDED = { excludedAtMs: { after: 0 } };

/** Nothing is cached, so that a wish and an exclusion take effect at once on every instance. */
export async function findExcludedHosts({ tables }: TablesContext): Promise<readonly string[]> {
  const rows = await tables.census.all(IS_EXCLUDED);
  return rows.map(({ host }) => host);
}

/** Returns a function that is true for withheld hosts among these rows. */
export async function findWithheld(
  context: TablesContext,
  rows: readonly { readonly host: string }[],
): Promise<(host: string) => boolean> {
  const hosts = rows.map(({ host }) => host);
  const stateOf = await findOwnerStates(context, rows);
  const excludedRows = await context.tables.census.all({ host: { in: hosts }, ...IS_EXCLUDED });
  const excludedHosts = new Set(excludedRows.map(({ host }) => host));
  return (host) => excludedHosts.has(host) || !stateOf(host).listed;
}

/** Selects the rows of history that a withheld host may show. */
export async function withoutWithheldHistory(
  context: TablesContext,
  rows: readonly Row<'history'>[],
): Promise<readonly Row<'history'>[]> {
  const censusRows = rows.filter(({ paidBy }) => paidBy === 'census');
  if (censusRows.length === 0) return rows;
  const isWithheld = await findWithheld(context, censusRows);
  return rows.filter(({ paidBy, host }) => paidBy !== 'census' || !isWithheld(host));
}

/** Returns a function that is true for changes that no reader may see now. */
export async function findHiddenChanges(
  context: TablesContext,
  rows: readonly Pick<Row<'changes'>, 'host' | 'scanId'>[],
): Promise<(row: Pick<Row<'changes'>, 'host' | 'scanId'>) => boolean> {
  const optedOutHosts = new Set(await findOptedOutHosts(context));
  const excludedHosts = new Set(await findExcludedHosts(context));
  const scanIds = rows.filter(({ host }) => excludedHosts.has(host)).map(({ scanId }) => scanId);
  const history =
    scanIds.length === 0 ? [] : await context.tables.history.all({ scanId: { in: scanIds } });
  const paidIds = new Set(
    history.filter(({ paidBy }) => paidBy !== 'census').map(({ scanId }) => scanId),
  );
  return ({ host, scanId }) =>
    optedOutHosts.has(host) || (excludedHosts.has(host) && !paidIds.has(scanId));
}

export async function findExclusionsVersion({ tables }: TablesContext): Promise<string> {
  return (await tables.censusFacts.get('exclusions'))?.value ?? '';
}

type RecordRow = Row<'records'>;

export function createExclusionStore(context: StoreContext) {
  return {
    /** Notes that the operator excludes a host of the census, or includes it again. Lists and pages follow at once. */
    async set(host: string, isExcluded: boolean): Promise<void> {
      const { census, records } = context.tables;
      const row = await census.get(host);
      if (row === null || (row.excludedAtMs !== null) === isExcluded) return;
      await census.set({ host }, { excludedAtMs: isExcluded ? context.now() : null });
      // The row is read again, because the census may have written a word meanwhile.
      const newRow = await census.get(host);
      const record = await records.get(host);
      if (record) {
        const shown = isExcluded ? withoutCensus(record) : record;
        // The record of an excluded host shows the newest scan that a payer ordered, if there is one.
        const isReplaced = shown !== null && shown.scanId !== record.scanId;
        const members = isReplaced ? toScanMembers(publishedScanFromJson(shown.scan), null) : {};
        await records.set({ host }, { ...members, ...toCensusMembers(newRow) });
      }
      await raiseExclusionsVersion(context);
    },
  };
}

/** Reads the record of a host without what only the census has measured if the host is withheld. */
export async function findShownRecord(
  context: TablesContext,
  host: string,
): Promise<RecordRow | null> {
  const record = await context.tables.records.get(host);
  return record && ((await withoutWithheld(context, [record]))[0] ?? null);
}

/** Records of withheld hosts show the newest scan that a payer ordered; without one they are left out. */
export async function withoutWithheld(
  context: TablesContext,
  records: readonly RecordRow[],
): Promise<readonly RecordRow[]> {
  // The census does not know most hosts, and their records need no further look-up.
  const ofCensus = records.filter(
    ({ paidBy, dayWords }) => paidBy === 'census' || dayWords !== null,
  );
  if (ofCensus.length === 0) return records;
  const isWithheld = await findWithheld(context, ofCensus);
  const ofCensusHosts = new Set(ofCensus.map(({ host }) => host));
  return records.flatMap((record) => {
    if (!ofCensusHosts.has(record.host) || !isWithheld(record.host)) return [record];
    const shown = withoutCensus(record);
    return shown === null ? [] : [shown];
  });
}

function withoutCensus(record: RecordRow): RecordRow | null {
  const row = { ...record, ...toCensusMembers(null) };
  if (record.paidBy !== 'census') return row;
  if (record.paidScan === null) return null;
  return { ...row, ...toScanMembers(publishedScanFromJson(record.paidScan), null) };
}

async function raiseExclusionsVersion({ tables }: TablesContext): Promise<void> {
  const [name, attempt] = ['exclusions', randomUUID()];
  const isNew = await tables.censusFacts.insert({ name, attempt, value: attempt });
  if (!isNew) await tables.censusFacts.set({ name }, { value: attempt });
}

/** Removes the rows of hosts that have been excluded for 30 days, and hides their changes. Returns the number of hosts. */
export async function purgeExcluded(context: StoreContext, nowMs: number): Promise<number> {
  const { census, censusWords, records, history, changes, results } = context.tables;
  const whereOld = { excludedAtMs: { after: 0, upTo: nowMs - RETENTION_MS.excludedHost } };
  const rows = await census.all(whereOld);
  for (const { host } of rows) {
    const shownChanges = await changes.all({ host, hidden: false });
    const isHidden = await findHiddenChanges(context, shownChanges);
    for (const change of shownChanges) {
      if (isHidden(change)) await changes.set({ n: change.n }, { hidden: true });
    }
    const record = await records.get(host);
    const hasNoPaidScan = record === null || withoutCensus(record) === null;
    if (record !== null && hasNoPaidScan) await records.remove({ host });
    const censusScans = await history.all({ host, paidBy: 'census' });
    await results.remove({ scanId: { in: censusScans.map(({ scanId }) => scanId) } });
    await history.remove(hasNoPaidScan ? { host } : { host, paidBy: 'census' });
    await censusWords.remove({ host });
    await census.remove({ host });
  }
  return rows.length;
}
