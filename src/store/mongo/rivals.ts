import type { MembershipSettings } from '../contract/hosts.ts';
import type { HostDocument } from './documents.ts';

const MEMBERS = ['revision', 'network', 'asset', 'payTo', 'baseUrl', 'catalog'] as const;

/** The first setting in which two hosts differ, or null. */
export function differingSetting(
  a: MembershipSettings,
  b: MembershipSettings,
): keyof MembershipSettings | null {
  return MEMBERS.find((name) => a[name] !== b[name]) ?? null;
}

/**
 * Tells hosts that live from those that crashed a moment ago: the former beat again while one
 * watches, so that a refusal need not wait for the latter's silence.
 */
export class Rivals {
  readonly #firstBeats = new Map<string, number>();

  /** A joined host that has beaten since it was first seen, or null. */
  look(hosts: readonly HostDocument[]): HostDocument | null {
    for (const { _id, beatAtMs } of hosts) {
      if (!this.#firstBeats.has(_id)) this.#firstBeats.set(_id, beatAtMs);
    }
    const living = hosts.find(
      ({ _id, joined, beatAtMs }) => joined && beatAtMs > (this.#firstBeats.get(_id) ?? beatAtMs),
    );
    return living ?? null;
  }
}
