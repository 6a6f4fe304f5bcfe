import type { InstanceStore } from '../contract/instances.ts';
import type { Owner } from '../contract/owner.ts';

/** Membership of a store that one process has alone: none can disagree, none is waited for. */
export function onlyInstance(owner: Owner): InstanceStore {
  return {
    async join() {},
    async isAlive({ boot }) {
      return boot === owner.boot;
    },
    async alive() {
      return [owner];
    },
    async leave() {},
  };
}
