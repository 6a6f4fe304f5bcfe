import { randomUUID } from 'node:crypto';
import { verifiedSinceMs } from '../contract/ownership.ts';
import type { StoreContext } from './context.ts';
import { RETENTION_MS } from './retention.ts';
import { jitter, type Where } from './table.ts';
import type { Row } from './tables.ts';

/** The wishes of a host's owner, and his last proof. */
export type OwnerState = Omit<Row<'owners'>, 'n' | 'attempt' | 'host' | 'atMs'>;

const NOBODY: OwnerState = {
  listed: true,
  listedBy: null,
  enrichmentSuppressed: false,
  suppressedBy: null,
  confirmedAtMs: null,
  tokenHash: null,
  keyHash: null,
  client: null,
};

const PURGE_BATCH = 200;

type OwnersContext = Pick<StoreContext, 'tables' | 'now'>;

/** `n` is the version of this state; 0: nobody ever set or proved anything. */
export type NumberedState = { readonly n: number; readonly state: OwnerState };

/** The state of a host is its row with the greatest number. */
export async function findOwner({ tables }: OwnersContext, host: string): Promise<NumberedState> {
  const last = await tables.owners.first({ host }, { order: [['n', 'desc']] });
  return last === null ? { n: 0, state: NOBODY } : { n: last.n, state: stateOf(last) };
}

export async function findOwners(
  { tables }: OwnersContext,
  hosts: readonly string[],
): Promise<(host: string) => OwnerState> {
  const last = lastRows(await tables.owners.all({ host: { in: hosts } }));
  return (host) => {
    const row = last.get(host);
    return row === undefined ? NOBODY : stateOf(row);
  };
}

/** Read anew for each list: an opt-out holds at once, on every host. */
export function optedOutHosts(context: OwnersContext): Promise<readonly string[]> {
  return hostsWhose(context, { listed: false });
}

export function verifiedHosts(context: OwnersContext): Promise<readonly string[]> {
  return hostsWhose(context, { confirmedAtMs: { after: verifiedSinceMs(context.now()) } });
}

/** The number of the last row of all hosts: the version of everything that owners set or prove. */
export async function lastOwnerNumber({ tables }: OwnersContext): Promise<number> {
  return (await tables.owners.first({}, { order: [['n', 'desc']] }))?.n ?? 0;
}

/**
 * Makes `next` the state of a host. The number after the last of all is inserted, and only then: so nothing, of any
 * host, lands between what `next` saw and what it decided.
 * @param next null: it stays as it is
 */
export async function appendOwnerState(
  context: OwnersContext,
  host: string,
  next: (held: NumberedState) => Partial<OwnerState> | null,
): Promise<NumberedState | null> {
  const attempt = randomUUID();
  for (;;) {
    // The end is read first: whatever is written after it takes the number that is tried below.
    const n = (await lastOwnerNumber(context)) + 1;
    const held = await findOwner(context, host);
    const change = next(held);
    if (change === null) return null;
    const state = { ...held.state, ...change };
    const row = { n, attempt, host, atMs: context.now(), ...state };
    if ((await context.tables.owners.decide(row)) === 'won') return { n, state };
    await jitter();
  }
}

/**
 * Takes proofs that are too old off their hosts, and removes rows that a later one of their host has replaced. These stay
 * for longer than any writer takes: a number that is free again could be taken by one that saw an older state.
 */
export async function purgeOwners(context: OwnersContext, nowMs: number): Promise<number> {
  const { owners } = context.tables;
  let removed = 0;
  const tooOld = { confirmedAtMs: { upTo: verifiedSinceMs(nowMs) } };
  for (const host of await hostsWhose(context, tooOld)) {
    const unproved = { confirmedAtMs: null, tokenHash: null, keyHash: null, client: null };
    const isOld = ({ state }: NumberedState) =>
      state.confirmedAtMs !== null && state.confirmedAtMs <= verifiedSinceMs(nowMs);
    if (await appendOwnerState(context, host, (held) => (isOld(held) ? unproved : null))) {
      removed += 1;
    }
  }
  const settled = { atMs: { upTo: nowMs - RETENTION_MS.replacedOwner } };
  for await (const rows of owners.batches(settled, { order: [['n', 'asc']] }, PURGE_BATCH)) {
    for (const { host, n } of rows) {
      const later = await owners.first({ host, n: { after: n } });
      if (later !== null) removed += await owners.remove({ n });
    }
  }
  return removed;
}

async function hostsWhose(
  { tables }: OwnersContext,
  where: Where<Row<'owners'>>,
): Promise<readonly string[]> {
  const found = await tables.owners.all(where);
  if (found.length === 0) return [];
  const hosts = [...new Set(found.map((row) => row.host))];
  // A later row may say otherwise.
  const last = lastRows(await tables.owners.all({ host: { in: hosts } }));
  const matching = new Set(found.map((row) => row.n));
  return hosts.filter((host) => matching.has(last.get(host)?.n ?? 0));
}

function lastRows(rows: readonly Row<'owners'>[]): ReadonlyMap<string, Row<'owners'>> {
  return new Map(rows.toSorted((a, b) => a.n - b.n).map((row) => [row.host, row]));
}

function stateOf({ n, attempt, host, atMs, ...state }: Row<'owners'>): OwnerState {
  return state;
}
