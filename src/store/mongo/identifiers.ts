/** Payment identifiers on MongoDB. */
import type { IdentifierScope, IdentifierStore } from '../contract/identifiers.ts';
import type { MongoContext } from './context.ts';
import { idOf } from './table.ts';

export function mongoIdentifiers({ identifiers, now }: MongoContext): IdentifierStore {
  return {
    async chain(scope, newest) {
      const last = { sort: { n: -1 }, limit: newest } as const;
      const links = await identifiers.all({ scope: scopeOf(scope) }, last);
      return links.toReversed().map(({ n, request, key, atMs }) => ({ n, request, key, atMs }));
    },

    async append(scope, { n, request, key, attempt }) {
      const { network, payer, id } = scope;
      const _id = idOf(network, payer, id, n);
      const row = { _id, scope: scopeOf(scope), n, request, key, attempt, atMs: now() };
      const outcome = await identifiers.decide(row);
      if (outcome === 'lost' || n === 1) return outcome;
      // A purge that took the whole chain while this link was on its way lets another writer start
      // at 1. Without its predecessor the link never counted.
      if (await identifiers.byId(idOf(network, payer, id, n - 1))) return 'won';
      await identifiers.remove({ _id, attempt });
      return 'lost';
    },
  };
}

function scopeOf({ network, payer, id }: IdentifierScope): string {
  return idOf(network, payer, id);
}
