/** Membership of an embedded store: this process alone. */
import type { InstanceStore } from '../contract/instances.ts';
import type { SqliteContext } from './context.ts';

/** The process lock lets nobody else in, so nobody can disagree and nobody need be waited for. */
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
