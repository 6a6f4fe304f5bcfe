import { RETENTION_MS, type StoreContext } from './context.ts';
import { readHistories } from './ledger.ts';
import { type InsertOutcome, insertNext, joinId } from './table.ts';
import type { Row } from './tables.ts';

/** A payment identifier is unique for one payer on one network. */
export type PaymentIdentifier = {
  readonly network: string;
  readonly payer: string;
  readonly id: string;
};

/**
 * Each id has a sequence of links to ledger keys, of which only the last one is valid. A writer appends another link
 * after the key of the last link was released or failed. A sequence is purged as a whole, 48 h after its last link and
 * after the ledger has purged all its keys.
 */
export function createIdentifierStore({ tables, now }: StoreContext) {
  const { identifiers } = tables;
  return {
    /** Finds the `limit` links with the greatest `n`, ascending by `n`; empty for an unknown id. */
    async findLinks(identifier: PaymentIdentifier, limit: number) {
      const newestFirst = { order: [['n', 'desc']], limit } as const;
      const links = await identifiers.all({ scope: toScope(identifier) }, newestFirst);
      return links.toReversed();
    },

    /** Call it before the key is claimed. If it returns `lost`, read the links again. */
    async append(
      identifier: PaymentIdentifier,
      link: Omit<Row<'identifiers'>, 'scope' | 'atMs'>,
    ): Promise<InsertOutcome> {
      const { n, attempt } = link;
      const scope = toScope(identifier);
      const previous = n === 1 ? null : ([scope, n - 1] as const);
      const row = { ...link, scope, atMs: now() };
      return insertNext(identifiers, row, previous, { scope, n, attempt });
    },
  };
}

function toScope({ network, payer, id }: PaymentIdentifier): string {
  return joinId(network, payer, id);
}

/**
 * Removes the sequences whose last link is old and whose keys the ledger has purged. The last link is removed last. A
 * writer that races with the purge either finds the link before its own, or loses and starts a new sequence at 1.
 */
export async function purgeIdentifiers(context: StoreContext, nowMs: number): Promise<number> {
  const { identifiers } = context.tables;
  const upToMs = nowMs - RETENTION_MS.identifierLinks;
  const checkedScopes = new Set<string>();
  let removedCount = 0;
  for await (const batch of identifiers.batches({ atMs: { upTo: upToMs } })) {
    for (const { scope } of batch) {
      if (checkedScopes.has(scope)) continue;
      checkedScopes.add(scope);
      const links = await identifiers.all({ scope }, { order: [['n', 'asc']] });
      const last = links.at(-1);
      if (!last || last.atMs > upToMs) continue;
      const keys = links.map((link) => link.key);
      if ((await readHistories(context, keys)).length > 0) continue;
      removedCount += await identifiers.remove({ scope, n: { before: last.n } });
      removedCount += await identifiers.remove({ scope, n: last.n });
    }
  }
  return removedCount;
}
