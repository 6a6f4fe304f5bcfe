/** Membership of an embedded store: this process alone. */
import type { InstanceStore } from '../contract/instances.ts';
import type { SqliteContext } from './context.ts';

/** The process lock keeps every other process out: none can disagree, none is waited for. */
export function sqliteInstances({ owner }: SqliteContext): InstanceStore {
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
