/** Selects what readers see of withheld hosts: their owner has opted out, or the operator has excluded them. */
import { randomUUID } from 'node:crypto';
import { toCensusMembers } from './census.ts';
import { RETENTION_MS, type StoreContext, type TablesContext } from './context.ts';
import { findOptedOutHosts, findOwnerStates } from './owners.ts';
import { publishedScanFromJson, toScanMembers } from './published-scan.ts';
import type { Row } from './tables.ts';

/** `excludedAtMs` is null for a host that is not excluded, and null matches no range. */
const IS_EXCLUDED = { excludedAtMs: { after: 0 } };

/** The result is not cached, so that an exclusion takes effect at once on every instance. */
export async function findExcludedHosts({ tables }: TablesContext): Promise<readonly string[]> {
  const rows = await tables.census.all(IS_EXCLUDED);
  return rows.map(({ host }) => host);
}

/** Returns a check that is true for the withheld ones among the hosts of these rows. */
export async function createWithheldCheck(
  context: TablesContext,
  rows: readonly { readonly host: string }[],
): Promise<(host: string) => boolean> {
  const hosts = rows.map(({ host }) => host);
  const stateOf = await findOwnerStates(context, rows);
  const excludedRows = await context.tables.census.all({ host: { in: hosts }, ...IS_EXCLUDED });
  const excludedHosts = new Set(excludedRows.map(({ host }) => host));
  return (host) => excludedHosts.has(host) || !stateOf(host).listed;
}

/** Leaves out the scans of the census from the history of withheld hosts. */
export async function selectShownHistory(
  context: TablesContext,
  rows: readonly Row<'history'>[],
): Promise<readonly Row<'history'>[]> {
  const censusRows = rows.filter(({ paidBy }) => paidBy === 'census');
  if (censusRows.length === 0) return rows;
  const isWithheld = await createWithheldCheck(context, censusRows);
  return rows.filter(({ paidBy, host }) => paidBy !== 'census' || !isWithheld(host));
}

/** The returned check is true for all changes of opted-out hosts, and for census changes of excluded hosts. */
export async function createHiddenCheck(
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
        // The record of an excluded host shows the newest scan that a payer ordered, if there is one.
        const shownScan = isExcluded ? record.paidScan : null;
        const scanMembers =
          shownScan === null ? {} : toScanMembers(publishedScanFromJson(shownScan), null);
        await records.set({ host }, { ...scanMembers, ...toCensusMembers(newRow) });
      }
      await raiseExclusionsVersion(context);
    },
  };
}

/** Reads the record of a host as readers may see it; null if they may see none. */
export async function findShownRecord(
  context: TablesContext,
  host: string,
): Promise<Row<'records'> | null> {
  const record = await context.tables.records.get(host);
  return record && ((await toShownRecords(context, [record]))[0] ?? null);
}

/** Replaces the record of a withheld host by its newest scan that a payer ordered; without one, leaves it out. */
export async function toShownRecords(
  context: TablesContext,
  records: readonly Row<'records'>[],
): Promise<readonly Row<'records'>[]> {
  // The census does not know most hosts, and their records need no further look-up.
  const isOfCensus = ({ paidBy, dayWords }: Row<'records'>) =>
    paidBy === 'census' || dayWords !== null;
  const censusRecords = records.filter(isOfCensus);
  if (censusRecords.length === 0) return records;
  const isWithheld = await createWithheldCheck(context, censusRecords);
  const shown = records.map((record) =>
    isOfCensus(record) && isWithheld(record.host) ? withoutCensus(record) : record,
  );
  return shown.filter((record) => record !== null);
}

/** Returns the record as if the census had never asked the host; null if no payer ordered a scan. */
function withoutCensus(record: Row<'records'>): Row<'records'> | null {
  const row = { ...record, ...toCensusMembers(null) };
  if (record.paidBy !== 'census') return row;
  if (record.paidScan === null) return null;
  return { ...row, ...toScanMembers(publishedScanFromJson(record.paidScan), null) };
}

async function raiseExclusionsVersion({ tables }: TablesContext): Promise<void> {
  const name = 'exclusions';
  const version = randomUUID();
  const isNew = await tables.censusFacts.insert({ name, attempt: version, value: version });
  if (!isNew) await tables.censusFacts.set({ name }, { value: version });
}

/** Removes what the census found at hosts that were excluded 30 days ago. Returns the number of hosts. */
export async function purgeExcluded(context: StoreContext, nowMs: number): Promise<number> {
  const { census, censusWords, records, history, changes, results } = context.tables;
  const whereOld = { excludedAtMs: { after: 0, upTo: nowMs - RETENTION_MS.excludedHost } };
  const rows = await census.all(whereOld);
  for (const { host } of rows) {
    // The census row that hides these changes is removed below. Changes are never removed.
    const shownChanges = await changes.all({ host, hidden: false });
    const isHidden = await createHiddenCheck(context, shownChanges);
    for (const change of shownChanges) {
      if (isHidden(change)) await changes.set({ n: change.n }, { hidden: true });
    }
    const record = await records.get(host);
    if (record !== null && withoutCensus(record) === null) await records.remove({ host });
    const censusScans = await history.all({ host, paidBy: 'census' });
    await results.remove({ scanId: { in: censusScans.map(({ scanId }) => scanId) } });
    await history.remove({ host, paidBy: 'census' });
    await censusWords.remove({ host });
    await census.remove({ host });
  }
  return rows.length;
}
