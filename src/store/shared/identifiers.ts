import type { IdentifierScope, IdentifierStore } from '../contract/identifiers.ts';
import type { StoreContext } from './context.ts';
import { decideNext } from './open-tables.ts';
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
