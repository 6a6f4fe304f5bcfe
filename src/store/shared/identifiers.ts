import type { IdentifierScope, IdentifierStore } from '../contract/identifiers.ts';
import type { StoreContext } from './context.ts';
import { readHistories } from './ledger.ts';
import { decideNext } from './open-tables.ts';
import { RETENTION_MS } from './retention.ts';
import { joinId } from './table.ts';

export function identifiersOn({ tables, now }: StoreContext): IdentifierStore {
  const { identifiers } = tables;
  return {
    async chain(scope, newest) {
      const links = await identifiers.all(
        { scope: scopeOf(scope) },
        { order: [['n', 'desc']], limit: newest },
      );
      return links.toReversed().map(({ n, request, key, atMs }) => ({ n, request, key, atMs }));
    },

    async append(given, { n, request, key, attempt }) {
      const scope = scopeOf(given);
      const link = { scope, n, request, key, attempt, atMs: now() };
      const previous = n === 1 ? null : ([scope, n - 1] as const);
      return decideNext(identifiers, link, previous, { scope, n, attempt });
    },
  };
}

function scopeOf({ network, payer, id }: IdentifierScope): string {
  return joinId(network, payer, id);
}

/**
 * Removes chains whose last link is old and whose keys the ledger has purged. A chain is removed from its start, its
 * greatest number last: a chain without rows starts again at 1, and a writer whose predecessor is gone has lost.
 */
export async function purgeIdentifiers(context: StoreContext, nowMs: number): Promise<number> {
  const { identifiers } = context.tables;
  const sinceMs = nowMs - RETENTION_MS.identifierChain;
  const seen = new Set<string>();
  let removed = 0;
  for await (const batch of identifiers.batches({ atMs: { upTo: sinceMs } })) {
    for (const { scope } of batch) {
      if (seen.has(scope)) continue;
      seen.add(scope);
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
