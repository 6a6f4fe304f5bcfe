/** Renews the listing's snapshot in the background, so that scans find it and need not wait for it. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../store/contract/store.ts';
import type { RefreshingStanding } from './create-standing.ts';

export type ListingRefresh = {
  readonly store: Pick<Store, 'leases'>;
  readonly standing: Pick<RefreshingStanding, 'refreshListing'>;
  /** What no caller meets, and an operator may want to know. */
  onError(message: string, error: unknown): void;
};

const LEASE_NAME = 'refresh:listing';
/** Longer than any lookup takes: the lease of an instance that died on the way ends soon. */
const LEASE_LIFETIME_MS = 60_000;

/**
 * Runs on one instance at a time: the next one finds a young snapshot and asks no source. Never
 * rejects, whatever becomes of the store.
 */
export async function refreshListing({
  store,
  standing,
  onError,
}: ListingRefresh): Promise<'asked' | 'held' | 'failed'> {
  try {
    const outcome = await store.leases.take({
      name: LEASE_NAME,
      attempt: randomUUID(),
      lifetimeMs: LEASE_LIFETIME_MS,
    });
    if (!outcome.held) return 'held';
    const lookup = await standing.refreshListing();
    await store.leases.release(outcome.lease);
    if (lookup.state !== 'failed') return 'asked';
    onError('The listing was not refreshed, scans go by the last one', lookup.detail);
  } catch (error) {
    onError('The listing was not refreshed', error);
  }
  return 'failed';
}
