import type { InstanceStore } from '../contract/instances.ts';
import type { Owner } from '../contract/owner.ts';

/** Membership of a store with one process, which has no other instance to compare or to wait for. */
export function onlyInstance(owner: Owner): InstanceStore {
  return {
    async join() {},
    async isAlive({ boot }) {
      return boot === owner.boot;
    },
    async leave() {},
  };
}
