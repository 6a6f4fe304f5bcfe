import type { IdentifierScope, IdentifierStore } from '../contract/identifiers.ts';
import type { StoreContext } from './context.ts';
import { idOf } from './table.ts';

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
      const outcome = await identifiers.decide({ scope, n, request, key, attempt, atMs: now() });
      if (outcome === 'lost' || n === 1) return outcome;
      // A purge that took the whole chain while this link was on its way lets another writer start
      // at 1. Without its predecessor the link never counted.
      if (await identifiers.get(scope, n - 1)) return 'won';
      await identifiers.remove({ scope, n, attempt });
      return 'lost';
    },
  };
}

function scopeOf({ network, payer, id }: IdentifierScope): string {
  return idOf(network, payer, id);
}
