import { randomUUID } from 'node:crypto';
import { RETENTION_MS, type TablesContext } from './context.ts';
import { type Where, waitJitter } from './table.ts';
import type { Row } from './tables.ts';

/** A proof expires after this long, because domains are sold. */
export const VERIFIED_FOR_MS = 365 * 24 * 3_600_000;

/** A confirm is valid at `nowMs` if it was made after this time. */
export function toVerifiedSinceMs(nowMs: number): number {
  return nowMs - VERIFIED_FOR_MS;
}

/** The settings of a host's owner, and their last proof of control. */
export type OwnerState = Omit<Row<'owners'>, 'n' | 'attempt' | 'host' | 'atMs'>;

const DEFAULT_STATE: OwnerState = {
  listed: true,
  listedBy: null,
  enrichmentSuppressed: false,
  suppressedBy: null,
  confirmedAtMs: null,
  tokenHash: null,
  keyHash: null,
  client: null,
};

/** `n` is the number of the row that holds the state; 0 if the host has no row. */
export type NumberedState = { readonly n: number; readonly state: OwnerState };

/** Reads the host's row with the greatest number, which holds its current state. */
export async function findOwnerState(
  { tables }: TablesContext,
  host: string,
): Promise<NumberedState> {
  const last = await tables.owners.first({ host }, { order: [['n', 'desc']] });
  return last === null ? { n: 0, state: DEFAULT_STATE } : { n: last.n, state: toOwnerState(last) };
}

export async function findOwnerStates(
  { tables }: TablesContext,
  rows: readonly { readonly host: string }[],
): Promise<(host: string) => OwnerState> {
  const hosts = rows.map(({ host }) => host);
  const lastRows = findLastRows(await tables.owners.all({ host: { in: hosts } }));
  return (host) => {
    const row = lastRows.get(host);
    return row === undefined ? DEFAULT_STATE : toOwnerState(row);
  };
}

/** The result is not cached, so that an opt-out takes effect at once on every instance. */
export function findOptedOutHosts(context: TablesContext): Promise<readonly string[]> {
  return findHostsByState(context, { listed: false });
}

export function findVerifiedHosts(context: TablesContext): Promise<readonly string[]> {
  return findHostsByState(context, { confirmedAtMs: { after: toVerifiedSinceMs(context.now()) } });
}

/** Finds the greatest row number of all hosts. It grows whenever an owner sets or proves something. */
export async function findLastOwnerChangeNumber({ tables }: TablesContext): Promise<number> {
  return (await tables.owners.first({}, { order: [['n', 'desc']] }))?.n ?? 0;
}

/**
 * Appends a row with the changes that `decideChange` returns for a host. The row takes the next number of all hosts.
 * If another row took that number in the meantime, `decideChange` is called again with the new state.
 * @param decideChange returns null to change nothing
 */
export async function appendOwnerState(
  context: TablesContext,
  host: string,
  decideChange: (current: NumberedState) => Partial<OwnerState> | null,
): Promise<NumberedState | null> {
  const attempt = randomUUID();
  for (;;) {
    // The last number is read before the state. A row written in between takes the number `n`, and our insert fails.
    const n = (await findLastOwnerChangeNumber(context)) + 1;
    const current = await findOwnerState(context, host);
    const change = decideChange(current);
    if (change === null) return null;
    const state = { ...current.state, ...change };
    const row = { n, attempt, host, atMs: context.now(), ...state };
    if ((await context.tables.owners.insertContended(row)) === 'won') return { n, state };
    await waitJitter();
  }
}

/**
 * Removes expired proofs, and rows that a later row of the same host has replaced. Replaced rows stay for longer than
 * any write takes. Otherwise a slow writer that read an older state could take the number of a removed row.
 */
export async function purgeOwners(context: TablesContext, nowMs: number): Promise<number> {
  const { owners } = context.tables;
  let removedCount = 0;
  const whereExpired = { confirmedAtMs: { upTo: toVerifiedSinceMs(nowMs) } };
  for (const host of await findHostsByState(context, whereExpired)) {
    const noProof = { confirmedAtMs: null, tokenHash: null, keyHash: null, client: null };
    const isExpired = ({ state }: NumberedState) =>
      state.confirmedAtMs !== null && state.confirmedAtMs <= toVerifiedSinceMs(nowMs);
    if (await appendOwnerState(context, host, (current) => (isExpired(current) ? noProof : null))) {
      removedCount += 1;
    }
  }
  const whereReplaceable = { atMs: { upTo: nowMs - RETENTION_MS.replacedOwnerState } };
  for await (const rows of owners.batches(whereReplaceable, { order: [['n', 'asc']] })) {
    for (const { host, n } of rows) {
      const later = await owners.first({ host, n: { after: n } });
      if (later !== null) removedCount += await owners.remove({ n });
    }
  }
  return removedCount;
}

async function findHostsByState(
  { tables }: TablesContext,
  where: Where<Row<'owners'>>,
): Promise<readonly string[]> {
  const rows = await tables.owners.all(where);
  if (rows.length === 0) return [];
  const hosts = [...new Set(rows.map((row) => row.host))];
  // Only the last row of a host holds its current state.
  const lastRows = findLastRows(await tables.owners.all({ host: { in: hosts } }));
  const matching = new Set(rows.map((row) => row.n));
  return hosts.filter((host) => matching.has(lastRows.get(host)?.n ?? 0));
}

function findLastRows(rows: readonly Row<'owners'>[]): ReadonlyMap<string, Row<'owners'>> {
  return new Map(rows.toSorted((a, b) => a.n - b.n).map((row) => [row.host, row]));
}

function toOwnerState({ n, attempt, host, atMs, ...state }: Row<'owners'>): OwnerState {
  return state;
}
