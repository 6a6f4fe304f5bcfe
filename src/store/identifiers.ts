import { RETENTION_MS, type StoreContext } from './context.ts';
import { readHistories } from './ledger.ts';
import { type InsertOutcome, insertNext, joinId } from './table.ts';

/** A payment identifier is unique for one payer on one network. */
export type IdentifierScope = {
  readonly network: string;
  readonly payer: string;
  readonly id: string;
};

export type IdentifierLink = {
  /** The position in the chain, from 1. */
  readonly n: number;
  /** Route and canonical request as one string, as in the ledger. */
  readonly request: string;
  /** The ledger key that this id is bound to. */
  readonly key: string;
};

/**
 * The ledger keys to which an id was bound, in order; only the last link is valid. Another link is
 * appended when the key of the last one was released or failed. A chain is purged whole, 48 h after
 * its last link, once the ledger has purged every key in it.
 */
export function identifiersOn({ tables, now }: StoreContext) {
  const { identifiers } = tables;
  return {
    /** Returns at most `newest` of the last links, ascending by `n`; empty for an unknown id. */
    async findLinks(
      scope: IdentifierScope,
      newest: number,
    ): Promise<readonly (IdentifierLink & { readonly atMs: number })[]> {
      const links = await identifiers.all(
        { scope: scopeOf(scope) },
        { order: [['n', 'desc']], limit: newest },
      );
      return links.toReversed().map(({ n, request, key, atMs }) => ({ n, request, key, atMs }));
    },

    /** Inserted before the key is claimed. On `lost`: read the chain again. */
    async append(
      given: IdentifierScope,
      { n, request, key, attempt }: IdentifierLink & { readonly attempt: string },
    ): Promise<InsertOutcome> {
      const scope = scopeOf(given);
      const link = { scope, n, request, key, attempt, atMs: now() };
      const previous = n === 1 ? null : ([scope, n - 1] as const);
      return insertNext(identifiers, link, previous, { scope, n, attempt });
    },
  };
}

function scopeOf({ network, payer, id }: IdentifierScope): string {
  return joinId(network, payer, id);
}

/**
 * Removes chains whose last link is old and whose keys the ledger has purged. The last link of
 * a chain is removed last: a racing writer finds its predecessor, or has lost and begins a new chain at 1.
 */
export async function purgeIdentifiers(context: StoreContext, nowMs: number): Promise<number> {
  const { identifiers } = context.tables;
  const sinceMs = nowMs - RETENTION_MS.identifierChain;
  const checkedScopes = new Set<string>();
  let removed = 0;
  for await (const batch of identifiers.batches({ atMs: { upTo: sinceMs } })) {
    for (const { scope } of batch) {
      if (checkedScopes.has(scope)) continue;
      checkedScopes.add(scope);
      const chain = await identifiers.all({ scope }, { order: [['n', 'asc']] });
      const last = chain.at(-1);
      if (!last || last.atMs > sinceMs) continue;
      const keys = chain.map((link) => link.key);
      if ((await readHistories(context, keys)).length > 0) continue;
      removed += await identifiers.remove({ scope, n: { before: last.n } });
      removed += await identifiers.remove({ scope, n: last.n });
    }
  }
  return removed;
}
