/** Proof of domain control: tokens, failures, confirms on MongoDB. */
import type { OwnershipStore } from '../contract/ownership.ts';
import type { SlotStore } from '../contract/slots.ts';
import { countedOwnership } from '../rules/ownership.ts';
import type { MongoContext } from './context.ts';
import { bumpPreferences } from './versions.ts';

export function mongoOwnership(context: MongoContext, slots: SlotStore): OwnershipStore {
  const { confirms, now } = context;
  return {
    ...countedOwnership(slots),

    async recordConfirm({ host, tokenHash }) {
      await confirms.replace({ _id: host, atMs: now(), tokenHash });
      await bumpPreferences(context);
    },

    async lastConfirm(host) {
      const confirm = await confirms.byId(host);
      return confirm && { atMs: confirm.atMs, tokenHash: confirm.tokenHash };
    },
  };
}
