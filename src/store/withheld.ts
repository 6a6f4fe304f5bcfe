/** A host is withheld from the census if its owner has opted out, or the operator has excluded it. */
import type { StoreContext } from './context.ts';
import { findOptedOutHosts, findOwnerStates } from './owners.ts';
import type { Row } from './tables.ts';

export type WithheldContext = Pick<StoreContext, 'tables' | 'now'>;

/** Nothing is cached, so that a wish and an exclusion take effect at once on every instance. */
export async function findExcludedHosts({ tables }: WithheldContext): Promise<readonly string[]> {
  const rows = await tables.census.all({ excludedAtMs: { after: 0 } });
  return rows.map(({ host }) => host);
}

/** Returns a function that is true for withheld hosts among these rows. */
export async function findWithheld(
  context: WithheldContext,
  rows: readonly { readonly host: string }[],
): Promise<(host: string) => boolean> {
  const hosts = rows.map(({ host }) => host);
  const stateOf = await findOwnerStates(context, rows);
  const whereExcluded = { host: { in: hosts }, excludedAtMs: { after: 0 } };
  const excludedRows = await context.tables.census.all(whereExcluded);
  const excluded = new Set(excludedRows.map(({ host }) => host));
  return (host) => excluded.has(host) || !stateOf(host).listed;
}

/** Selects the rows of history that a withheld host may show. */
export async function withoutWithheldHistory(
  context: WithheldContext,
  rows: readonly Row<'history'>[],
): Promise<readonly Row<'history'>[]> {
  const censusRows = rows.filter(({ paidBy }) => paidBy === 'census');
  if (censusRows.length === 0) return rows;
  const isWithheld = await findWithheld(context, censusRows);
  return rows.filter(({ paidBy, host }) => paidBy !== 'census' || !isWithheld(host));
}

/** Returns a function that is true for changes that no reader may see now. */
export async function findHiddenChanges(
  context: WithheldContext,
  rows: readonly Pick<Row<'changes'>, 'host' | 'scanId'>[],
): Promise<(row: Pick<Row<'changes'>, 'host' | 'scanId'>) => boolean> {
  const optedOut = new Set(await findOptedOutHosts(context));
  const excluded = new Set(await findExcludedHosts(context));
  const scanIds = rows.filter(({ host }) => excluded.has(host)).map(({ scanId }) => scanId);
  const history =
    scanIds.length === 0 ? [] : await context.tables.history.all({ scanId: { in: scanIds } });
  const paidIds = new Set(
    history.filter(({ paidBy }) => paidBy !== 'census').map(({ scanId }) => scanId),
  );
  return ({ host, scanId }) => optedOut.has(host) || (excluded.has(host) && !paidIds.has(scanId));
}

export async function findExclusionsVersion({ tables }: WithheldContext): Promise<string> {
  return (await tables.censusFacts.get('exclusions'))?.value ?? '';
}
