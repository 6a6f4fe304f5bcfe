/** Proof of domain control on MongoDB. */
import type { OwnershipStore } from '../contract/ownership.ts';
import type { SlotStore } from '../contract/slots.ts';
import { ownershipOn } from '../shared/ownership.ts';
import type { MongoContext } from './context.ts';
import { bumpPreferences } from './versions.ts';

export function mongoOwnership(context: MongoContext, slots: SlotStore): OwnershipStore {
  const { confirms } = context;
  return ownershipOn(slots, {
    async get(host) {
      const row = await confirms.byId(host);
      if (row === null) return null;
      const { atMs, tokenHash, keyHash, client } = row;
      return { atMs, tokenHash, keyHash, client };
    },

    async put(host, confirm) {
      await confirms.replace({ _id: host, ...confirm });
      await bumpPreferences(context);
    },
  });
}
