/** Instances that must not live on one store together. */
import type { MembershipSettings } from '../contract/instances.ts';
import type { InstanceDocument } from './documents.ts';

const MEMBERS = ['revision', 'network', 'asset', 'payTo', 'baseUrl', 'catalog'] as const;

/** The first setting in which two instances differ, or null. */
export function differingSetting(
  a: MembershipSettings,
  b: MembershipSettings,
): keyof MembershipSettings | null {
  return MEMBERS.find((name) => a[name] !== b[name]) ?? null;
}

/**
 * Tells instances that live from those that crashed a moment ago: the former beat again while one
 * watches, so that a refusal need not wait for the latter's silence.
 */
export class ConflictingInstances {
  readonly #firstBeats = new Map<string, number>();

  /** A joined instance that has beaten since it was first seen, or null. */
  look(instances: readonly InstanceDocument[]): InstanceDocument | null {
    for (const { _id, beatAtMs } of instances) {
      if (!this.#firstBeats.has(_id)) this.#firstBeats.set(_id, beatAtMs);
    }
    const living = instances.find(
      ({ _id, joined, beatAtMs }) => joined && beatAtMs > (this.#firstBeats.get(_id) ?? beatAtMs),
    );
    return living ?? null;
  }
}
